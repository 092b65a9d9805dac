print("porter-server")

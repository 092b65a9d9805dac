print("porter-machines")

"""Prints the commands that the public package `simplex-chat` writes, one JSON text per line, name first."""

import json

from simplex_chat.types import _commands as c

contact = {"chatType": "direct", "chatId": 7}
everything = {"type": "filters", "favorite": False, "unread": True}
text = {"msgContent": {"type": "text", "text": "grüß dich\n\"du\""}, "mentions": {}}
new_user = {
    "profile": {"displayName": "alice", "fullName": "Alice A."},
    "pastTimestamp": False,
    "userChatRelay": False,
    "clientService": False,
}

commands = {
    "showActiveUser": c.ShowActiveUser_cmd_string({}),
    "createUser": c.CreateActiveUser_cmd_string({"newUser": new_user}),
    "listUsers": c.ListUsers_cmd_string({}),
    "setActiveUser": c.APISetActiveUser_cmd_string({"userId": 2}),
    "setActiveUser password": c.APISetActiveUser_cmd_string({"userId": 2, "viewPwd": "pass word"}),
    "deleteUser": c.APIDeleteUser_cmd_string({"userId": 2, "delSMPQueues": True}),
    "deleteUser password": c.APIDeleteUser_cmd_string({"userId": 2, "delSMPQueues": False, "viewPwd": "x"}),
    "updateProfile": c.APIUpdateProfile_cmd_string({"userId": 1, "profile": new_user["profile"]}),
    "startChat": c.StartChat_cmd_string({"mainApp": True, "enableSndFiles": True}),
    "stopChat": c.APIStopChat_cmd_string({}),
    "send": c.APISendMessages_cmd_string(
        {"sendRef": contact, "liveMessage": False, "signMessages": False, "composedMessages": [text, text]}
    ),
    "addContact": c.APIAddContact_cmd_string({"userId": 1, "incognito": False}),
    "connect": c.APIConnect_cmd_string(
        {"userId": 1, "incognito": False, "preparedLink_": {"connFullLink": "np:link", "connShortLink": "np:short"}}
    ),
    "connect active": c.Connect_cmd_string({"incognito": False, "connTarget_": "np:link"}),
    "connectionPlan": c.APIConnectPlan_cmd_string(
        {"userId": 1, "connectTarget": "np:link", "resolveMode": "unknown"}
    ),
    "listContacts": c.APIListContacts_cmd_string({"userId": 1}),
    "getChats": c.APIGetChats_cmd_string(
        {
            "userId": 1,
            "pendingConnections": True,
            "pagination": {"type": "last", "count": 20},
            "query": everything,
        }
    ),
    "deleteChat": c.APIDeleteChat_cmd_string(
        {"chatRef": contact, "chatDeleteMode": {"type": "full", "notify": False}}
    ),
    "deleteChat messages": c.APIDeleteChat_cmd_string(
        {"chatRef": contact, "chatDeleteMode": {"type": "messages"}}
    ),
    "showAddress": c.APIShowMyAddress_cmd_string({"userId": 1}),
}
for name, command in commands.items():
    print(json.dumps([name, command]))

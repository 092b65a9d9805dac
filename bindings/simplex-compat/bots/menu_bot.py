"""A bot with a menu, which also answers edits of, reactions to and deletions of messages."""

from simplex_chat import Bot, BotCommand, BotProfile, Message, ParsedCommand, SqliteDb

bot = Bot(
    profile=BotProfile(display_name="Menu bot", full_name="A bot with a menu"),
    db=SqliteDb(file_prefix="./menu_bot"),
    welcome="Choose from the menu.",
    commands=[BotCommand("help", "What can I do?"), BotCommand("order", "Order something", params="number")],
)


async def say(contact: int, text: str) -> None:
    await bot.api.api_send_text_message(["direct", contact], text)


@bot.on_command("help")
async def answer_help(message: Message, command: ParsedCommand) -> None:
    await message.reply("Order by number.")


@bot.on_command("order")
async def answer_order(message: Message, command: ParsedCommand) -> None:
    await message.reply(f"Number {command.args} is on its way.")


@bot.on_event("chatItemUpdated")
async def notice_edit(event) -> None:
    item = event["chatItem"]
    if item["chatItem"]["chatDir"]["type"] != "directRcv":
        return  # the status of one of its own messages
    text = item["chatItem"]["content"]["msgContent"]["text"]
    await say(item["chatInfo"]["contact"]["contactId"], f"edited: {text}")


@bot.on_event("chatItemReaction")
async def notice_reaction(event) -> None:
    reaction = event["reaction"]
    contact = reaction["chatInfo"]["contact"]["contactId"]
    await say(contact, f"reaction: {reaction['chatReaction']['reaction']['emoji']} {event['added']}")


@bot.on_event("chatItemsDeleted")
async def notice_deletion(event) -> None:
    if event["byUser"]:
        return
    deleted = event["chatItemDeletions"][0]["deletedChatItem"]
    await say(deleted["chatInfo"]["contact"]["contactId"], "deleted")


if __name__ == "__main__":
    bot.run()

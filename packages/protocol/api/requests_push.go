package api

// Requests about notifications and chats.
var (
	ListChannels  = Define[Empty, ListChannelsResponse]("list_channels", GrantManage, "Lists the channels with their chats, and the chat platforms that the host supports.")
	AddChannel    = Define[AddChannelRequest, ChannelResponse]("add_channel", GrantManage, "Adds a bot on a chat platform; the same clientKey yields the same channel.", Concurrently)
	TestChannel   = Define[ChannelRequest, ChannelResponse]("test_channel", GrantManage, "Asks the platform of a channel whether its token works.", Concurrently)
	RemoveChannel = Define[ChannelRequest, Empty]("remove_channel", GrantManage, "Removes a channel with its token and chats. Their sessions are kept.", Concurrently)
	PairChannel   = Define[PairChannelRequest, PairChannelResponse]("pair_channel", GrantManage, "Creates a code that binds a chat to a project when it is typed there.")
	AllowSender   = Define[AllowSenderRequest, ChannelResponse]("allow_sender", GrantManage, "Lists a sender of a chat, or removes one from the list.")
	RemoveChat    = Define[RemoveChatRequest, ChannelResponse]("remove_chat", GrantManage, "Ends the access of a chat.")
	ListPush      = Define[ListPushRequest, ListPushResponse]("list_push", GrantView, "Lists where a client is notified, what it is notified of, and how the last deliveries ended.", Shown)
	AddPush       = Define[AddPushRequest, PushResponse]("add_push", GrantView, "Has the host notify the client that asks, at an address.", Concurrently, Shown)
	RemovePush    = Define[PushRequest, Empty]("remove_push", GrantView, "Ends notifications at an address.", Shown)
	TestPush      = Define[PushRequest, PushResponse]("test_push", GrantView, "Sends a test notification and returns how that ended.", Concurrently, Shown)
	SetPush       = Define[SetPushRequest, PushSettingsResponse]("set_push", GrantView, "Sets what a client is notified of, and its quiet hours.", Shown)
)

func pushRequests() []Spec {
	return []Spec{
		ListChannels.Spec(),
		AddChannel.Spec(),
		TestChannel.Spec(),
		RemoveChannel.Spec(),
		PairChannel.Spec(),
		AllowSender.Spec(),
		RemoveChat.Spec(),
		ListPush.Spec(),
		AddPush.Spec(),
		RemovePush.Spec(),
		TestPush.Spec(),
		SetPush.Spec(),
	}
}

package cluster

// State is what a node knows about its own contact to the others. The zero State is that
// of a node that has just joined. It has five parts, and Next is the only function that
// changes them:
//
//	Bus       Up      the last sign of life could be published
//	          Down    it could not: no channel to another node can be opened
//	Trunks    Whole   no trunk of this epoch has failed
//	          Broken  one has: the next sign of life ends the epoch
//	Bindings  Known   every change of a binding was received, or read from the store
//	          Missed  the bus lost messages, and the store was not checked since
//	          Asking  the store is being asked, after all messages that were lost
//	          AskingAgain  the same, but messages were lost since the check began
//	Blind     revocations may be unknown to both bus and store: no channel may be open
//	Presence  Fresh   where devices are is known
//	          Stale   it may be wrong
//
// The transitions. A part that is not named stays as it is.
//
//	event         from                  to            actions
//	BeatSent      any                   Up, Whole     EndEpoch if Trunks was Broken,
//	                                                  ExcuseSilence if Bus was Down
//	BeatFailed    any                   Down, Whole   EndEpoch
//	TrunkBroke    any                   Broken        BeatNow
//	NoticeFailed  any                   the same      AnnounceNews
//	NodeHasNews   any                   Stale         CheckNow
//	MessagesLost  Known, Missed         Missed, Stale AnnounceNews, BeatNow, CheckNow
//	              Asking, AskingAgain   AskingAgain, Stale   the same
//	CheckBegan    Missed, AskingAgain   Asking
//	              Known, Asking         the same
//	CheckPassed   Known, Asking         Known, not Blind
//	              Missed, AskingAgain   Missed, not Blind
//	CheckFailed   Asking, AskingAgain   Missed, Blind CloseChannels if it was not Blind
//	              Known, Missed         the same; Blind if Down, with CloseChannels
//	              after either          Fresh if Stale and Up, with RefreshPresence
//
// "After either" is for CheckPassed and CheckFailed.
type State struct {
	Bus      Bus
	Trunks   Trunks
	Bindings Bindings
	Blind    bool
	Presence Presence
}

// Bus is whether other nodes can be reached.
type Bus uint8

// The states of the bus.
const (
	Up Bus = iota
	Down
)

// Trunks is whether the trunks of this epoch work.
type Trunks uint8

// The states of the trunks.
const (
	Whole Trunks = iota
	Broken
)

// Bindings is whether changes of bindings may have been missed.
type Bindings uint8

// The states of what is known about bindings.
const (
	Known Bindings = iota
	Missed
	Asking
	AskingAgain
)

// Presence is whether it is known where devices are.
type Presence uint8

// The states of what is known about devices on other nodes.
const (
	Fresh Presence = iota
	Stale
)

// Event is something that happens to the contact with other nodes.
type Event uint8

// The events.
const (
	BeatSent     Event = iota // a heartbeat was published
	BeatFailed                // it could not be published
	TrunkBroke                // publishing on a trunk of this epoch failed
	NoticeFailed              // publishing a notice failed, so others may have missed it
	NodeHasNews               // another node reports that its notices may have been missed
	MessagesLost              // the bus lost messages to this node
	CheckBegan                // the store is asked for changed bindings
	CheckPassed               // it answered
	CheckFailed               // it did not
)

// Action is a set of actions that follow a transition.
type Action uint8

// The actions.
const (
	EndEpoch        Action = 1 << iota // close all channels to other nodes, begin an epoch
	AnnounceNews                       // tell others in the next heartbeat that they may have missed notices
	BeatNow                            // send a heartbeat now
	CheckNow                           // ask the store now
	CloseChannels                      // close all channels
	RefreshPresence                    // ask other nodes where devices are
	ExcuseSilence                      // heartbeats could not arrive: give the other nodes time
)

// Has reports whether an action is in the set.
func (a Action) Has(one Action) bool { return a&one != 0 }

// Next returns the state after an event, and the actions to take.
func (s State) Next(e Event) (State, Action) {
	switch e {
	case BeatSent:
		return s.beatSent()
	case BeatFailed:
		s.Bus, s.Trunks = Down, Whole
		return s, EndEpoch
	case TrunkBroke:
		s.Trunks = Broken
		return s, BeatNow
	case NoticeFailed:
		return s, AnnounceNews
	case NodeHasNews:
		s.Presence = Stale
		return s, CheckNow
	case MessagesLost:
		return s.messagesLost()
	case CheckBegan:
		if s.Bindings == Missed || s.Bindings == AskingAgain {
			s.Bindings = Asking
		}
		return s, 0
	case CheckPassed:
		s.Blind = false
		if s.Bindings == Asking {
			s.Bindings = Known
		} else if s.Bindings == AskingAgain {
			s.Bindings = Missed
		}
		return s.checked(0)
	case CheckFailed:
		return s.checkFailed()
	}
	return s, 0
}

func (s State) beatSent() (State, Action) {
	var do Action
	if s.Trunks == Broken {
		do = EndEpoch
	}
	if s.Bus == Down {
		do |= ExcuseSilence
	}
	s.Bus, s.Trunks = Up, Whole
	return s, do
}

func (s State) messagesLost() (State, Action) {
	if s.Bindings == Asking || s.Bindings == AskingAgain {
		s.Bindings = AskingAgain
	} else {
		s.Bindings = Missed
	}
	s.Presence = Stale
	return s, AnnounceNews | BeatNow | CheckNow
}

func (s State) checkFailed() (State, Action) {
	asked := s.Bindings == Asking || s.Bindings == AskingAgain
	if asked {
		s.Bindings = Missed
	}
	var do Action
	if (asked || s.Bus == Down) && !s.Blind {
		s.Blind = true
		do = CloseChannels
	}
	return s.checked(do)
}

// checked is applied after every check: the others are asked for devices once they
// can be reached.
func (s State) checked(do Action) (State, Action) {
	if s.Presence == Stale && s.Bus == Up {
		s.Presence = Fresh
		do |= RefreshPresence
	}
	return s, do
}

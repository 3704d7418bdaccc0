package cluster

import "testing"

// events is every event, in order.
var events = []Event{BeatSent, BeatFailed, TrunkBroke, NoticeFailed, NodeHasNews, MessagesLost, CheckBegan, CheckPassed, CheckFailed}

// states is every state.
func states() (all []State) {
	for _, bus := range []Bus{Up, Down} {
		for _, trunks := range []Trunks{Whole, Broken} {
			for _, bindings := range []Bindings{Known, Missed, Asking, AskingAgain} {
				for _, blind := range []bool{false, true} {
					for _, presence := range []Presence{Fresh, Stale} {
						all = append(all, State{bus, trunks, bindings, blind, presence})
					}
				}
			}
		}
	}
	return all
}

// The tables say what becomes of each part of the state with each event, in the order of
// events. They are written down apart from the code, one row for each state of a part.
var (
	busAfter = map[Bus][9]Bus{
		Up:   {Up, Down, Up, Up, Up, Up, Up, Up, Up},
		Down: {Up, Down, Down, Down, Down, Down, Down, Down, Down},
	}
	trunksAfter = map[Trunks][9]Trunks{
		Whole:  {Whole, Whole, Broken, Whole, Whole, Whole, Whole, Whole, Whole},
		Broken: {Whole, Whole, Broken, Broken, Broken, Broken, Broken, Broken, Broken},
	}
	bindingsAfter = map[Bindings][9]Bindings{
		Known:       {Known, Known, Known, Known, Known, Missed, Known, Known, Known},
		Missed:      {Missed, Missed, Missed, Missed, Missed, Missed, Asking, Missed, Missed},
		Asking:      {Asking, Asking, Asking, Asking, Asking, AskingAgain, Asking, Known, Missed},
		AskingAgain: {AskingAgain, AskingAgain, AskingAgain, AskingAgain, AskingAgain, AskingAgain, Asking, Missed, Missed},
	}
	// blindedBy says for a failed check whether it leaves the node blind.
	blindedBy = map[Bindings]map[Bus]bool{
		Known:       {Up: false, Down: true},
		Missed:      {Up: false, Down: true},
		Asking:      {Up: true, Down: true},
		AskingAgain: {Up: true, Down: true},
	}
	presenceAfter = map[Presence]map[Bus][9]Presence{
		Fresh: {
			Up:   {Fresh, Fresh, Fresh, Fresh, Stale, Stale, Fresh, Fresh, Fresh},
			Down: {Fresh, Fresh, Fresh, Fresh, Stale, Stale, Fresh, Fresh, Fresh},
		},
		Stale: {
			Up:   {Stale, Stale, Stale, Stale, Stale, Stale, Stale, Fresh, Fresh},
			Down: {Stale, Stale, Stale, Stale, Stale, Stale, Stale, Stale, Stale},
		},
	}
	// always is what each event asks for in every state.
	always = [9]Action{0, EndEpoch, BeatNow, AnnounceNews, CheckNow, AnnounceNews | BeatNow | CheckNow, 0, 0, 0}
)

// TestEveryStateAndEvent goes through all pairs of a state and an event.
func TestEveryStateAndEvent(t *testing.T) {
	for _, from := range states() {
		for i, e := range events {
			want := State{
				Bus: busAfter[from.Bus][i], Trunks: trunksAfter[from.Trunks][i], Bindings: bindingsAfter[from.Bindings][i],
				Blind: from.Blind, Presence: presenceAfter[from.Presence][from.Bus][i],
			}
			do := always[i]
			switch {
			case e == BeatSent:
				if from.Trunks == Broken {
					do |= EndEpoch
				}
				if from.Bus == Down {
					do |= ExcuseSilence
				}
			case e == CheckPassed:
				want.Blind = false
			case e == CheckFailed && blindedBy[from.Bindings][from.Bus]:
				want.Blind = true
				if !from.Blind {
					do |= CloseChannels
				}
			}
			if from.Presence == Stale && want.Presence == Fresh {
				do |= RefreshPresence
			}
			if got, actions := from.Next(e); got != want || actions != do {
				t.Errorf("%+v, event %d: got %+v, actions %06b\nwant %+v, actions %06b", from, e, got, actions, want, do)
			}
		}
	}
}

func TestUnknownEventsChangeNothing(t *testing.T) {
	for _, from := range states() {
		if got, actions := from.Next(Event(len(events))); got != from || actions != 0 {
			t.Errorf("%+v became %+v", from, got)
		}
	}
}

// TestInDoubtNoChannelIsOpen follows the courses of events that the rule is about.
func TestInDoubtNoChannelIsOpen(t *testing.T) {
	for name, tc := range map[string]struct {
		events []Event
		blind  bool
		closed int // how many times all channels close
	}{
		"the store alone fails":                   {[]Event{CheckBegan, CheckFailed, CheckBegan, CheckFailed}, false, 0},
		"the bus alone fails":                     {[]Event{BeatFailed, CheckBegan, CheckPassed}, false, 0},
		"both fail":                               {[]Event{BeatFailed, CheckBegan, CheckFailed, CheckBegan, CheckFailed}, true, 1},
		"messages are lost and the store fails":   {[]Event{MessagesLost, CheckBegan, CheckFailed}, true, 1},
		"a check that began before the loss":      {[]Event{CheckBegan, MessagesLost, CheckFailed}, false, 0},
		"and the one after it":                    {[]Event{CheckBegan, MessagesLost, CheckFailed, CheckBegan, CheckFailed}, true, 1},
		"messages are lost again in a check":      {[]Event{MessagesLost, CheckBegan, MessagesLost, CheckPassed, CheckBegan, CheckFailed}, true, 1},
		"the store is back":                       {[]Event{MessagesLost, CheckBegan, CheckFailed, CheckBegan, CheckPassed}, false, 1},
		"the bus is back, and the store is not":   {[]Event{BeatFailed, CheckBegan, CheckFailed, BeatSent, CheckBegan, CheckFailed}, true, 1},
		"the store is back, and fails once again": {[]Event{BeatFailed, CheckBegan, CheckFailed, CheckBegan, CheckPassed, CheckBegan, CheckFailed}, true, 2},
	} {
		var s State
		closed := 0
		for _, e := range tc.events {
			var do Action
			if s, do = s.Next(e); do.Has(CloseChannels) {
				closed++
			}
		}
		if s.Blind != tc.blind || closed != tc.closed {
			t.Errorf("%s: blind %v, closed %d times; want %v, %d", name, s.Blind, closed, tc.blind, tc.closed)
		}
	}
}

package chat

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/composer"
	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/apps/cli/internal/chat/projection"
	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
	"github.com/scorel/scorel/apps/cli/internal/chat/transcript"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Model is the state of the screen. It belongs to the goroutine of the program; everything
// that waits runs in commands.
type Model struct {
	cfg  Config
	ctx  context.Context
	wake chan struct{} // holds one token when the feed has something

	feed     *feed.Feed
	stopFeed context.CancelFunc
	feeds    sync.WaitGroup // of all feeds so far
	switched bool           // the host is not the one of the command

	width, height int
	theme         *theme.Theme

	host      api.HostInfo
	connected bool
	ever      bool // a connection was there
	lost      error
	retryAt   time.Time
	fatal     error // ends the chat

	opening string // id of the session that is being loaded
	session projection.Session
	project api.Project
	newKey  string // client key of the session that the next prompt creates
	want    choices

	transcript *transcript.Model
	paging     bool // earlier entries were requested
	seek       sought
	editor     *composer.Editor
	images     []image
	complete   completion
	offers     serverOffers
	outbox     outbox
	finding    bool // the project was requested
	card       card
	picker     *picker
	notice     string
	bad        *problem  // the notice is this error
	leaving    time.Time // of the first Ctrl+C
	ticking    bool
	frame      int
	look       attention
}

// choices are what a person chose for a session that does not exist yet.
type choices struct {
	model, thinking string
	mode            api.Mode
}

func newModel(ctx context.Context, cfg Config) *Model {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Explain == nil {
		cfg.Explain = error.Error
	}
	if cfg.Help == nil {
		cfg.Help = func(error) string { return "" }
	}
	colors := theme.New(true)
	m := &Model{
		cfg: cfg, ctx: ctx, wake: make(chan struct{}, 1), width: 80, height: 24, theme: colors,
		transcript: transcript.New(colors), editor: composer.New(), newKey: rand.Text(),
	}
	m.connectTo(cfg.Host, cfg.Session)
	return m
}

// Messages of the model's own commands.
type (
	woken   struct{}
	ticked  struct{}
	entries struct { // earlier ones
		sessionID string
		response  api.GetEntriesResponse
		err       error
	}
	sent struct {
		prompt prompt
		err    error
	}
	opened struct {
		summary api.SessionSummary
		err     error
	}
	said struct { // the outcome of a request that changes nothing here
		text string
		err  error
	}
)

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.listen(0), tea.RequestBackgroundColor, m.findProject())
}

// drawEvery is how often new events are taken over: 30 times a second, whatever the rate of
// the model.
const drawEvery = 33 * time.Millisecond

// listen waits for the feed, but not less than a pause.
func (m *Model) listen(pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-m.ctx.Done():
			return nil
		}
		select {
		case <-m.wake:
			return woken{}
		case <-m.ctx.Done():
			return nil
		}
	}
}

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	m.layout()
	return m, tea.Batch(cmd, m.pageBack(), m.tick())
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
	case tea.BackgroundColorMsg:
		m.theme = theme.New(msg.IsDark())
		m.transcript.SetTheme(m.theme)
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		return m.paste(msg.Content)
	case clipboardRead:
		return m.tookClipboard(msg)
	case tea.MouseWheelMsg:
		return m.wheel(msg.Mouse())
	case tea.FocusMsg:
		m.focused()
		return m.attend()
	case tea.BlurMsg:
		return m.blurred()
	case unseen:
		m.look.unseen = msg.turn == m.look.turns
		return m.attend()
	case judged:
		return m.wasJudged(msg)
	case quietOver:
		return m.quietEnded(msg.notice)
	case attended:
		m.wasAttended(msg)
		return m.attend()
	case woken:
		return tea.Batch(m.take(), m.listen(drawEvery))
	case ticked:
		m.ticking = false
		m.frame++
	default:
		// What the feed got before an answer comes before it: the grants before the project.
		return tea.Batch(m.take(), m.answered(msg))
	}
	return nil
}

// take applies what the feed has.
func (m *Model) take() tea.Cmd {
	var cmds []tea.Cmd
	for _, update := range m.feed.Take() {
		cmds = append(cmds, m.apply(update))
	}
	m.transcript.Sync(&m.session)
	m.showSought()
	m.refreshCard()
	return tea.Batch(append(cmds, m.notify(), m.attend())...)
}

func (m *Model) apply(update feed.Update) tea.Cmd {
	switch u := update.(type) {
	case feed.Connected:
		first := !m.ever
		m.host, m.connected, m.ever, m.lost = u.Host, true, true, nil
		m.look.told = ""
		m.look.links++
		if first && m.cfg.Folder == "" && m.cfg.Session == "" {
			return m.pickSession()
		}
		return m.flush()
	case feed.Disconnected:
		m.connected, m.lost, m.retryAt = false, u.Err, u.Next
	case feed.Failed:
		return m.failed(u)
	case feed.Followed:
		m.cfg.Host.Name, m.cfg.Folder, m.project, m.switched = u.Name, "", api.Project{}, true
		m.connected, m.finding = false, false
		m.giveBack(m.outbox.take(newSession))
		m.say("The session moved to " + u.Name + "; continuing there")
	case feed.Loaded:
		if m.session.Summary.ID != u.SessionID {
			m.reset()
			m.opening, m.want = "", choices{}
		}
		m.session.Load(u.Response)
		m.paging = false
	case feed.Happened:
		m.happened(u.Event)
	}
	return nil
}

func (m *Model) failed(u feed.Failed) tea.Cmd {
	named := !m.ever || m.session.Summary.ID == "" && u.SessionID == m.cfg.Session // by the command
	if !m.switched && (u.Connection || named) {
		m.fatal = u.Err
		return tea.Quit
	}
	m.opening = ""
	m.fail(u.Err)
	return nil
}

func (m *Model) happened(event api.EventEnvelope) {
	switch e := event.Event.(type) {
	case api.SessionUpdated:
		if e.Session.ID == m.session.Summary.ID {
			m.session.Summary = e.Session
		}
		return
	case api.SessionDeleted:
		if e.ID == m.session.Summary.ID {
			m.say("This session was deleted")
		}
		return
	}
	if event.SessionID != "" && event.SessionID == m.session.Summary.ID {
		m.session.Apply(event.Event)
		if e, ok := event.Event.(api.TurnEnded); ok {
			m.turnEnded(e)
		}
	}
}

// reset forgets the session on the screen.
func (m *Model) reset() {
	m.session, m.card, m.paging = projection.Session{}, card{}, false
	m.transcript = transcript.New(m.theme)
}

// open shows another session.
func (m *Model) open(sessionID string) {
	m.giveBack(m.outbox.take(newSession))
	m.opening, m.notice, m.seek = sessionID, "", sought{}
	m.feed.Open(sessionID)
}

// begin starts a new session with the next prompt.
func (m *Model) begin() {
	m.giveBack(m.outbox.take(newSession))
	m.feed.Open("")
	m.opening, m.newKey, m.seek = "", rand.Text(), sought{}
	m.reset()
	m.notice = ""
}

// running reports whether the agent works.
func (m *Model) running() bool { return m.session.Live.Turn != nil || m.session.Live.Work != nil }

// tickEvery is the pace of what moves while the agent works.
const tickEvery = 250 * time.Millisecond

func (m *Model) tick() tea.Cmd {
	moving := m.running() || m.ever && !m.connected
	if m.ticking || !moving {
		return nil
	}
	m.ticking = true
	return tea.Tick(tickEvery, func(time.Time) tea.Msg { return ticked{} })
}

// say shows a notice until the next key.
func (m *Model) say(text string) { m.notice, m.bad = text, nil }

// fail shows an error until the next key.
func (m *Model) fail(err error) {
	p := m.problemOf(err)
	m.notice, m.bad = p.text, &p
}

// may reports whether this connection has a grant.
func (m *Model) may(grant api.Grant) bool {
	for _, have := range m.host.Grants {
		if have == grant {
			return !m.cfg.Watch
		}
	}
	return false
}

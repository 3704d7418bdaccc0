package chat

import (
	"context"
	"crypto/rand"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/composer"
	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
	"github.com/scorel/scorel/apps/cli/internal/chat/transcript"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Model is the state of the screen. It belongs to the goroutine of the program; everything
// that waits runs in commands.
type Model struct {
	cfg  Config
	conn *connection

	screen screen
	notice *notices

	fatal   error // ends the chat
	session shown
	next    next

	field    *field
	complete completion
	outbox   outbox
	card     cards
	picker   *picker
	leaving  time.Time // of the first Ctrl+C
	spinner  spinner
	look     attention
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
		cfg: cfg, screen: screen{80, 24, colors},
		conn:   &connection{ctx: ctx, wake: make(chan struct{}, 1), watch: cfg.Watch},
		notice: &notices{explainer: explainer{cfg.Explain, cfg.Help}},
		field:  &field{editor: composer.New()}, next: next{folder: cfg.Folder, key: rand.Text()},
	}
	m.complete = completion{now: cfg.Now, editor: m.field.editor}
	m.card = cards{now: cfg.Now, may: m.conn.may, field: m.field, notice: m.notice}
	m.look = attention{now: cfg.Now, environ: cfg.Environ, silent: cfg.NoNotify}
	m.session = shown{opening: cfg.Session, transcript: transcript.New(colors), notice: m.notice}
	m.conn.follow(cfg.Host, cfg.Session)
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.conn.listen(0), tea.RequestBackgroundColor, m.next.find(m.conn.remote()))
}

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	m.layout()
	moving := m.session.running() || m.conn.ever && !m.conn.connected
	return m, tea.Batch(cmd, m.session.pageBack(m.conn.remote()), m.spinner.tick(moving))
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.screen.width, m.screen.height = max(msg.Width, 1), max(msg.Height, 1)
	case tea.BackgroundColorMsg:
		m.screen.theme = theme.New(msg.IsDark())
		m.session.transcript.SetTheme(m.screen.theme)
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		return m.paste(msg.Content)
	case tea.MouseWheelMsg:
		return m.wheel(msg.Mouse())
	case tea.FocusMsg, tea.BlurMsg, unseen, attended, judged, quietOver:
		return m.look.update(msg, m.sight())
	case woken:
		return tea.Batch(m.take(), m.conn.listen(drawEvery))
	case ticked:
		m.spinner.ticked()
	default:
		// What the feed got before an answer comes before it: the grants before the project.
		return tea.Batch(m.take(), m.answered(msg))
	}
	return nil
}

// answered takes the answer to a request.
func (m *Model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case projectFound:
		return m.tookProject(msg)
	case clipboardRead:
		m.notice.report(m.field.tookClipboard(msg))
	case entries:
		m.session.earlier(msg)
	case sent:
		m.field.giveBack(m.outbox.took(msg, m.notice))
		return m.flush()
	case copied:
		if msg.err != nil {
			m.notice.fail(msg.err)
			return nil
		}
		m.open(msg.summary.ID)
	case moved:
		m.notice.report(msg.err)
		m.field.offer(msg.response.Text)
	case said:
		m.notice.said(msg)
	case cardAnswered:
		m.card.took(msg)
	case found, skillsFound, offered:
		m.complete.took(msg, m.scope().project)
	case picked:
		if msg.picker == m.picker {
			m.picker.took(msg, m.notice.explainer)
		}
	case searched:
		if msg.picker == m.picker {
			m.picker.found(msg, m.notice.explainer)
		}
	}
	return nil
}

// take applies what the feed has.
func (m *Model) take() tea.Cmd {
	var cmds []tea.Cmd
	for _, update := range m.conn.feed.Take() {
		cmds = append(cmds, m.apply(update))
	}
	m.session.sync()
	m.card.refresh(m.session.Live, m.session.Summary.ID, m.picker != nil)
	seen := m.sight()
	return tea.Batch(append(cmds, m.look.notify(seen), m.look.attend(seen))...)
}

// sight is what a person who looks sees.
func (m *Model) sight() sight {
	return sight{
		remote: m.conn.remote(), guest: m.conn.to.Guest, session: m.session.Summary.ID, title: m.session.title(),
		card: m.card.id, what: m.card.what(),
	}
}

func (m *Model) apply(update feed.Update) tea.Cmd {
	switch u := update.(type) {
	case feed.Connected:
		first := m.conn.opened(u.Host)
		m.look.connected()
		if first && m.next.folder == "" && m.cfg.Session == "" {
			return m.list(listSessions)
		}
		return m.flush()
	case feed.Disconnected:
		m.conn.broke(u)
	case feed.Failed:
		return m.failed(u)
	case feed.Followed:
		m.conn.moved(u.Name)
		m.next.elsewhere()
		m.field.giveBack(m.outbox.take(newSession))
		m.notice.say("The session moved to " + u.Name + "; continuing there")
	case feed.Loaded:
		if m.session.Summary.ID != u.SessionID {
			m.reset()
			m.session.opening, m.next.want = "", choices{}
		}
		m.session.loaded(u.Response)
	case feed.Happened:
		m.session.happened(u.Event)
		if e, ok := u.Event.Event.(api.TurnEnded); ok && m.session.has(u.Event) {
			m.look.turnEnded(e)
		}
	}
	return nil
}

func (m *Model) failed(u feed.Failed) tea.Cmd {
	named := !m.conn.ever || m.session.Summary.ID == "" && u.SessionID == m.cfg.Session // by the command
	if !m.conn.switched && (u.Connection || named) {
		m.fatal = u.Err
		return tea.Quit
	}
	m.session.opening = ""
	m.notice.fail(u.Err)
	return nil
}

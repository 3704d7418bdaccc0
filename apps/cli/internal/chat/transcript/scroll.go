package transcript

// at returns an item by its place; the tail follows the log.
func (m *Model) at(i int) *item {
	if i < len(m.items) {
		return m.items[i]
	}
	return m.tail[i-len(m.items)]
}

func (m *Model) count() int { return len(m.items) + len(m.tail) }

func (m *Model) linesOf(i int) []string { return m.at(i).render(m.style, m.theme) }

// place returns the place of the first visible item; false if the view follows the end.
func (m *Model) place() (int, bool) {
	if m.follow || m.top == nil {
		return 0, false
	}
	for i := range m.count() {
		if m.at(i) == m.top {
			return i, true
		}
	}
	return 0, false
}

// View returns the visible lines, as many as the height.
func (m *Model) View() []string {
	lines, full := m.fromTop()
	if !full {
		m.toEnd()
		lines = m.fromEnd()
	}
	for len(lines) < m.height {
		lines = append(lines, "")
	}
	return lines
}

// fromTop returns the lines from the place of the view; full is false if it must follow the
// end instead.
func (m *Model) fromTop() (lines []string, full bool) {
	i, ok := m.place()
	if !ok {
		return nil, false
	}
	skip := min(m.line, len(m.linesOf(i)))
	for ; i < m.count() && len(lines) < m.height; i++ {
		lines = append(lines, m.linesOf(i)[skip:]...)
		skip = 0
	}
	if len(lines) < m.height {
		return nil, false
	}
	return lines[:m.height:m.height], true
}

func (m *Model) fromEnd() []string {
	first, skip := m.endPlace()
	var lines []string
	for i := first; i < m.count(); i++ {
		lines = append(lines, m.linesOf(i)[skip:]...)
		skip = 0
	}
	return lines
}

// endPlace returns where a view that shows the end begins.
func (m *Model) endPlace() (first, skip int) {
	have := 0
	for first = m.count(); first > 0 && have < m.height; {
		first--
		have += len(m.linesOf(first))
	}
	return first, max(have-m.height, 0)
}

func (m *Model) toEnd() { m.follow, m.top, m.line, m.unseen = true, nil, 0, false }

// End shows the end and follows it.
func (m *Model) End() { m.toEnd() }

// Start shows the first known line.
func (m *Model) Start() {
	if m.count() > 0 {
		m.follow, m.top, m.line = false, m.at(0), 0
	}
}

// Show begins the view with an entry; false if none of its items is known.
func (m *Model) Show(entryID string) bool {
	for _, i := range m.items {
		if i.entryID == entryID {
			m.follow, m.top, m.line = false, i, 0
			return true
		}
	}
	return false
}

// Page returns how many lines a page has.
func (m *Model) Page() int { return max(m.height-2, 1) }

// Scroll moves the view by lines, up if n is negative.
func (m *Model) Scroll(n int) {
	i, ok := m.place()
	line := m.line
	if !ok {
		i, line = m.endPlace()
	}
	if i >= m.count() {
		return
	}
	line += n
	for line < 0 && i > 0 {
		i--
		line += len(m.linesOf(i))
	}
	for line >= len(m.linesOf(i)) && i < m.count()-1 {
		line -= len(m.linesOf(i))
		i++
	}
	m.follow, m.top, m.line = false, m.at(i), max(line, 0)
	if n > 0 {
		if _, full := m.fromTop(); !full {
			m.toEnd()
		}
	}
}

// NearStart reports whether the view is close to the first known entry.
func (m *Model) NearStart() bool {
	i, ok := m.place()
	if !ok {
		i, _ = m.endPlace()
	}
	return i < 4
}

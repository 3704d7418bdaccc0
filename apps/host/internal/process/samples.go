package process

// How many lines of an operation are kept with the message.
const (
	firstLines = 10
	lastLines  = 40
)

// Bounds of a line that is kept with the message, in bytes; the log has the whole line.
const (
	maxSampleDetail  = 512
	maxSamplePayload = 512
)

// samples keeps the first and the last lines.
type samples struct {
	first, last []Line
	omitted     int
}

func (s *samples) add(line Line) {
	line.Detail = cut(line.Detail, maxSampleDetail)
	if len(line.Payload) > maxSamplePayload {
		line.Payload = nil
	}
	if len(s.first) < firstLines {
		s.first = append(s.first, line)
		return
	}
	if len(s.last) == lastLines {
		copy(s.last, s.last[1:])
		s.last[lastLines-1] = line
		s.omitted++
		return
	}
	s.last = append(s.last, line)
}

func (s *samples) lines() (lines []Line, omitted int) {
	lines = make([]Line, 0, len(s.first)+len(s.last))
	return append(append(lines, s.first...), s.last...), s.omitted
}

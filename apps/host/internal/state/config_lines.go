package state

import (
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"
)

// lines maps each key of config.toml, and each string in a list, to its line. Keys are full
// dotted keys; a string of a list is appended to its key after a NUL.
type lines map[string]int

// readLines finds the lines in a valid TOML file.
func readLines(data []byte) lines {
	found := lines{}
	parser := unstable.Parser{}
	parser.Reset(data)
	table := ""
	for parser.NextExpression() {
		switch node := parser.Expression(); node.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = found.key(&parser, "", node.Key())
		case unstable.KeyValue:
			found.pair(&parser, table, node)
		}
	}
	return found
}

// key records the line of a key, and returns the full key.
func (l lines) key(parser *unstable.Parser, table string, parts unstable.Iterator) string {
	name, line := table, 0
	for parts.Next() {
		name = joinKey(name, string(parts.Node().Data))
		line = parser.Shape(parts.Node().Raw).Start.Line
		if _, there := l[name]; !there {
			l[name] = line
		}
	}
	return name
}

func joinKey(table, name string) string {
	if table == "" {
		return name
	}
	return table + "." + name
}

// pair records the lines of a key and of the strings in its list.
func (l lines) pair(parser *unstable.Parser, table string, node *unstable.Node) {
	name := l.key(parser, table, node.Key())
	value := node.Value()
	children := value.Children()
	for children.Next() {
		child := children.Node()
		switch {
		case value.Kind == unstable.InlineTable:
			l.pair(parser, name, child)
		case value.Kind == unstable.Array && child.Kind == unstable.String:
			if _, there := l[name+"\x00"+string(child.Data)]; !there {
				l[name+"\x00"+string(child.Data)] = parser.Shape(child.Raw).Start.Line
			}
		}
	}
}

// Place returns the position of a string in a list of config.toml as FILE:LINE, or that of
// the list's key. The line is omitted if neither is in the file.
func (c Config) Place(path, key, value string) string {
	line, ok := c.lines[key+"\x00"+value]
	if !ok {
		line = c.lines[key]
	}
	return at(path, line)
}

func at(path string, line int) string {
	if line <= 0 {
		return path
	}
	return path + ":" + strconv.Itoa(line)
}

package anthropic

import (
	"regexp"
	"strconv"
	"strings"
)

// form is how a model is asked to think.
type form string

const (
	cannot   form = ""         // it does not think
	manual   form = "enabled"  // with a budget in tokens
	adaptive form = "adaptive" // as it sees fit, with an effort
)

// habit is what is known about a model by its name.
type habit struct {
	form    form
	always  bool     // its thinking cannot be turned off
	efforts []string // that it knows
}

// habits is the table of models: the first row whose family is that of the model,
// or any, and whose first version is not above the model's.
var habits = []struct {
	families string
	since    version10
	habit    habit
}{
	{"fable mythos", 0, habit{adaptive, true, []string{"low", "medium", "high", "xhigh", "max"}}},
	{"opus sonnet", 55, habit{adaptive, true, []string{"low", "medium", "high", "xhigh", "max"}}},
	{"", 47, habit{adaptive, false, []string{"low", "medium", "high", "xhigh", "max"}}},
	{"", 46, habit{adaptive, false, []string{"low", "medium", "high", "max"}}},
	{"", 37, habit{form: manual}},
	{"", 0, habit{form: cannot}},
}

// version10 is a version times ten: 46 is 4.6.
type version10 int

var (
	newName = regexp.MustCompile(`(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:-(\d))?(?:\D|$)`)
	oldName = regexp.MustCompile(`claude-(\d)(?:-(\d))?-(opus|sonnet|haiku)`)
)

// habitOf is the habit of a model. One of unknown version is taken for a new one; a model
// that is not Claude is served by somebody who speaks the older protocol.
func habitOf(id string) habit {
	name := strings.NewReplacer(".", "-", "_", "-", "@", "-").Replace(strings.ToLower(id))
	var family, major, minor string
	if m := oldName.FindStringSubmatch(name); m != nil {
		major = m[1]
		minor = m[2]
		family = m[3]
	} else if m := newName.FindStringSubmatch(name); m != nil {
		family = m[1]
		major = m[2]
		minor = m[3]
	} else if strings.Contains(name, "mythos") || strings.Contains(name, "fable") {
		return habits[0].habit
	} else if strings.Contains(name, "claude-2") || strings.Contains(name, "claude-instant") {
		return habit{form: cannot}
	} else if strings.Contains(name, "claude") {
		return habit{adaptive, false, []string{"low", "medium", "high"}}
	} else {
		return habit{form: manual}
	}
	at := version10(10*digits(major) + digits(minor))
	for _, row := range habits {
		if at >= row.since && (row.families == "" || strings.Contains(row.families, family)) {
			return row.habit
		}
	}
	return habit{}
}

func digits(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

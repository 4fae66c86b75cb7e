// Package config reads the program's settings: flags, environment and config file, in
// this order; the first that sets a value counts.
//
// Words it adds: settings (what all of them say together), flags.
//
// Invariants: an error names the file and the key, and never shows a secret.
package config

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// Settings are the settings of the program.
type Settings struct {
	Data           string
	Store          string // URL of the database; empty for a file in the data folder
	Objects        string // URL; empty for a folder beside the data
	Signed         bool   // artifacts are fetched from the bucket, by signed URLs
	Model          string
	Limit          int64 // tokens, of flag and environment; 0 leaves it to the model
	DefaultLimit   int64 // tokens, of the file, for models that have none there
	Addr           string
	Compaction     engine.PolicySettings            // how conversations are compacted
	Projects       map[string]engine.PolicySettings // the same of a project's, over it
	Eager          bool                             // files of segments are written at once
	SummaryModels  []string
	SummaryTimeout time.Duration // as engine.Options has it
	Titles         engine.Titles
	TitleModel     string                 // empty: the one that answers
	Models         map[string]token.Facts // what the file says about models, by name
	Strict         map[string]scrollback.Strictness
	ReplyBounds    model.Bounds // of one reply
	Limits         IntakeLimits // of what comes in
	Roots          []string     // granted without --root; nil leaves it to the command
	NoEnvironment  bool         // conversations are not told where they work
	MemoryFiles    []string     // names of memory files; nil leaves them to the workspace
	Setup          string       // what the environment ends with
	TrashDays      int64        // after which a server purges what is in the trash; 0 for never
	LogLevel       slog.Level
	LogJSON        bool
	TrustedProxies access.Proxies                   // whose forwarded headers count
	Hosts          []string                         // names of the server
	Traces         bool                             // are sent, to where OTEL_EXPORTER_OTLP_ENDPOINT says
	SearXNG        string                           // address of a server that searches the web; empty for none
	WebSearch      string                           // as engine.Options has it
	Embeddings     string                           // the model of vectors that search uses; empty for none
	Grace          time.Duration                    // how long a server that is told to end goes on
	Rate           scrollback.Rate                  // of each actor's chats; zero for the server's default
	Keep           map[string]string                // how far what is kept goes, by project; "" is of the others
	Allowances     map[string]scrollback.SpendLimit // of projects, for a day
	Agents         engine.AgentOptions              // sub-agents
	Door           Door                             // how clients of other APIs are answered
	Watch          bool                             // serve follows what other tools keep
	Import         Import                           // what is brought of that, and how
	Hooks          Hooks                            // what is told to other agents unasked
	Backup         Backup                           // that a server makes each night
	Identity       string                           // that opens encrypted files, or a file with it; empty for the user's
	Recipients     []string                         // whom files are encrypted for besides
	Sync           Sync                             // remotes that the store meets
	variables      map[string]string                // what the file sets in place of environment variables
}

// Flags are those of the command line that other sources set too; zero values are not
// given.
type Flags struct {
	Data, Store, Objects, Model string
	SummaryTimeout              string
	Limit                       int64
}

// Read reads a file, if one is named, and puts environment and flags over it. It writes
// to warnings if others can read keys in the file; errors are invalid, with the setting
// as their parameter.
func Read(file string, flags Flags, warnings io.Writer) (Settings, error) {
	src := settingsSource{k: koanf.New(dot), env: os.Getenv}
	if file != "" {
		if err := loadConfig(src.k, file, warnings); err != nil {
			return Settings{}, err
		}
	}
	s, err := parseSettings(src, flags)
	if err != nil && file != "" && scrollback.CodeOf(err) == scrollback.Invalid {
		return s, scrollback.ParamErrorf("scrollback", "config", "%s: %s", file, terminal.ExplainError(err))
	}
	return s, err
}

// settingsSource is where settings come from, beside flags.
type settingsSource struct {
	k   *koanf.Koanf
	env func(string) string
}

// readText returns a setting that is one text: its variable, or else its key.
func (src settingsSource) readText(variable, key string) string {
	return cmp.Or(src.env(variable), src.k.String(key))
}

// readTexts returns a setting of the file that is a text or a list of them.
func (src settingsSource) readTexts(key string) []string {
	if one := src.k.String(key); one != "" && len(src.k.Strings(key)) == 0 {
		return []string{one}
	}
	return src.k.Strings(key)
}

// parseSettings puts flags and environment over the file and checks the result.
func parseSettings(src settingsSource, flags Flags) (Settings, error) {
	k := src.k
	s := Settings{SummaryModels: src.readTexts("summary_model"), Setup: k.String("setup"),
		TrashDays:     k.Int64("trash_days"),
		Eager:         k.Bool("eager"),
		NoEnvironment: k.Exists("environment") && !k.Bool("environment")}
	if list := src.env("SCROLLBACK_SUMMARY_MODEL"); list != "" {
		s.SummaryModels = strings.Split(list, ",")
	}
	if s.TrashDays < 0 {
		return s, scrollback.ParamErrorf("scrollback", "trash_days", i18n.TrashDaysIsNumberOfDays)
	}
	s.Data = cmp.Or(flags.Data, src.readText("SCROLLBACK_DATA", "data"))
	s.Store = cmp.Or(flags.Store, src.readText("SCROLLBACK_STORE", "store"))
	s.Objects = cmp.Or(flags.Objects, src.readText("SCROLLBACK_OBJECTS", "objects"))
	s.Embeddings = src.readText("SCROLLBACK_EMBEDDINGS", "embeddings"+dot+"model")
	s.Model = cmp.Or(flags.Model, src.readText("SCROLLBACK_MODEL", "model"), "offline")
	s.Addr = cmp.Or(src.readText("SCROLLBACK_ADDR", "addr"), "127.0.0.1:7077")
	s.Compaction.Policy = src.readText("SCROLLBACK_POLICY", "policy")
	s.parsePlace(src)
	for _, part := range []func(settingsSource) error{s.parseDownloads, s.parseServing, s.parseReports, s.parseTitles,
		s.parseSearch, s.parseCompaction, s.parseKeep, s.parseRates, s.parseAgents, s.parseImport, s.parseHooks,
		s.parseBackup, s.parseRecipients, s.parseSync} {
		if err := part(src); err != nil {
			return s, err
		}
	}
	err := cmp.Or(s.parseLimit(src, flags.Limit),
		s.parseTimeout(cmp.Or(flags.SummaryTimeout, src.readText("SCROLLBACK_SUMMARY_TIMEOUT", "summary_timeout"))))
	if err == nil {
		s.variables, err = providerVariables(k)
	}
	if err == nil {
		s.Models, err = modelFacts(k)
	}
	if err == nil {
		s.Strict, err = modelStrictness(k)
	}
	if err == nil {
		s.ReplyBounds, err = replyBounds(k)
	}
	if err == nil {
		s.Limits, err = parseLimits(k)
	}
	if err == nil {
		err = s.parseDoor(src)
	}
	return s, err
}

// parsePlace reads where conversations work.
func (s *Settings) parsePlace(src settingsSource) {
	if src.k.Exists("memory_files") {
		s.MemoryFiles = append([]string{}, src.readTexts("memory_files")...)
	}
	switch list := src.env("SCROLLBACK_ROOT"); {
	case list != "": // an empty name in it is none
		s.Roots = slices.DeleteFunc(filepath.SplitList(list), func(name string) bool { return name == "" })
	case src.k.Exists("root"):
		s.Roots = append([]string{}, src.readTexts("root")...)
	}
}

// parseLimit reads the window of the model. What the file says of all models gives way to
// what it says of one.
func (s *Settings) parseLimit(src settingsSource, flag int64) error {
	s.DefaultLimit = src.k.Int64("limit")
	if text := src.env("SCROLLBACK_LIMIT"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return scrollback.ParamErrorf("scrollback", "limit", i18n.LimitVariableIsNoNumber, text)
		}
		s.Limit = n
	}
	if s.Limit = cmp.Or(flag, s.Limit); min(s.Limit, s.DefaultLimit) < 0 {
		return scrollback.ParamErrorf("scrollback", "limit", i18n.LimitSettingIsNumberOfTokens)
	}
	return nil
}

// parseTimeout reads how long a request waits for a summary; empty leaves it to the engine.
func (s *Settings) parseTimeout(text string) error {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return scrollback.ParamErrorf("scrollback", "summary_timeout",
			i18n.SummaryTimeoutIsTime, text)
	}
	if s.SummaryTimeout = d; d == 0 {
		s.SummaryTimeout = -1
	}
	return nil
}

// parseReports reads what the log takes, in which form, and whether traces are sent.
func (s *Settings) parseReports(src settingsSource) error {
	level := cmp.Or(src.readText("SCROLLBACK_LOG_LEVEL", "log_level"), "warn")
	if err := s.LogLevel.UnmarshalText([]byte(level)); err != nil {
		return scrollback.ParamErrorf("scrollback", "log_level", i18n.LogLevelIsOneOf, level)
	}
	format := cmp.Or(src.readText("SCROLLBACK_LOG_FORMAT", "log_format"), "text")
	if format != "text" && format != "json" {
		return scrollback.ParamErrorf("scrollback", "log_format", i18n.LogFormatIsTextOrJSON, format)
	}
	s.LogJSON = format == "json"
	if s.Traces = src.k.Bool("traces"); !src.k.Exists("traces") {
		s.Traces = cmp.Or(src.env("OTEL_EXPORTER_OTLP_ENDPOINT"), src.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")) != ""
	}
	return nil
}

// parseSearch reads who searches the web: the address of a SearXNG, and which way is taken.
func (s *Settings) parseSearch(src settingsSource) error {
	s.SearXNG = src.readText("SCROLLBACK_SEARXNG", "searxng")
	s.WebSearch = cmp.Or(src.readText("SCROLLBACK_WEB_SEARCH", "web_search"), engine.WebSearchAuto)
	ways := []string{engine.WebSearchAuto, engine.WebSearchProvider, engine.WebSearchSearXNG, engine.WebSearchOff}
	if !slices.Contains(ways, s.WebSearch) {
		return scrollback.ParamErrorf("scrollback", "web_search", i18n.WebSearchIsOneOf, strings.Join(ways, ", "),
			s.WebSearch)
	}
	return nil
}

// parseDownloads reads how clients fetch artifacts.
func (s *Settings) parseDownloads(src settingsSource) error {
	from := cmp.Or(src.readText("SCROLLBACK_DOWNLOADS", "downloads"), "server")
	if s.Signed = from == "signed"; !s.Signed && from != "server" {
		return scrollback.ParamErrorf("scrollback", "downloads", i18n.DownloadsIsServerOrSigned, from)
	}
	return nil
}

// parseServing reads the names of a server, and the proxies in front of it.
func (s *Settings) parseServing(src settingsSource) (err error) {
	s.Hosts = append(s.Hosts, src.readTexts("hosts")...)
	if s.TrustedProxies, err = access.ParseProxies(src.readTexts("trusted_proxies")); err != nil {
		return err
	}
	if grace := src.readText("SCROLLBACK_GRACE", "grace"); grace != "" {
		s.Grace, err = ParseGrace(grace)
	}
	return err
}

// graceMost bounds how long a server that is told to end goes on.
const graceMost = 10 * time.Minute

// ParseGrace reads how long a server that is told to end goes on.
func ParseGrace(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > graceMost {
		return 0, scrollback.ParamErrorf("scrollback", "grace", i18n.GraceIsTime, text)
	}
	return d, nil
}

// parseTitles reads where titles come from, and whom to ask.
func (s *Settings) parseTitles(src settingsSource) error {
	s.TitleModel = src.readText("SCROLLBACK_TITLE_MODEL", "title_model")
	s.Titles = cmp.Or(engine.Titles(src.readText("SCROLLBACK_TITLES", "titles")), engine.TitlesModel)
	if slices.Contains([]engine.Titles{engine.TitlesModel, engine.TitlesPrompt, engine.TitlesOff}, s.Titles) {
		return nil
	}
	return scrollback.ParamErrorf("scrollback", "titles", i18n.TitlesIsModelPromptOrOff, s.Titles)
}

// parseCompaction reads how conversations are compacted, and checks it with every
// policy: a conversation may name any.
func (s *Settings) parseCompaction(src settingsSource) error {
	k := src.k
	read := func(table string) map[string]float64 {
		at := table + "compaction"
		out := map[string]float64{}
		if !k.Exists(at) {
			at = table + "folding" // the old name
		}
		for _, name := range k.MapKeys(at) {
			out[name] = k.Float64(at + dot + name)
		}
		return out
	}
	s.Compaction.Numbers = read("")
	s.Projects = map[string]engine.PolicySettings{}
	for _, name := range k.MapKeys("projects") {
		at := "projects" + dot + name + dot
		s.Projects[name] = engine.PolicySettings{Policy: k.String(at + "policy"), Numbers: read(at)}
	}
	judge := func(where string, f engine.PolicySettings) error {
		for _, policy := range append([]string{f.Policy}, compact.Names()...) {
			if _, err := compact.FindPolicy(policy, true, s.Compaction.Numbers, f.Numbers); err != nil {
				return scrollback.ParamErrorf("scrollback", "compaction", i18n.PolicyOfSetting, where, cmp.Or(policy, compact.Auto),
					terminal.ExplainError(err))
			}
		}
		return nil
	}
	err := judge("", s.Compaction)
	for _, name := range slices.Sorted(maps.Keys(s.Projects)) {
		if err == nil {
			err = judge(fmt.Sprintf("project %q, ", name), s.Projects[name])
		}
	}
	return err
}

// parseKeep reads how far what is kept of people's words goes.
func (s *Settings) parseKeep(src settingsSource) error {
	s.Keep = map[string]string{}
	read := func(project, key string) error {
		how := src.k.String(key)
		if how == "" {
			return nil
		}
		s.Keep[project] = how
		if how == scrollback.ScopeConversation || how == scrollback.ScopeProject {
			return nil
		}
		return scrollback.ParamErrorf("scrollback", "keep", i18n.KeepIsOneOf, how)
	}
	err := read("", "keep")
	for _, name := range src.k.MapKeys("projects") {
		err = cmp.Or(err, read(name, "projects"+dot+name+dot+"keep"))
	}
	return err
}

// parseRates reads how much may begin, and what projects may use in a day.
func (s *Settings) parseRates(src settingsSource) (err error) {
	k := src.k
	if rate := src.readText("SCROLLBACK_RATE_LIMIT", "rate_limit"); rate != "" {
		if s.Rate, err = scrollback.ParseRate(rate); err != nil {
			return err
		}
	}
	s.Allowances = map[string]scrollback.SpendLimit{}
	for _, name := range k.MapKeys("projects") {
		at := "projects" + dot + name + dot
		a := scrollback.SpendLimit{Tokens: k.Int64(at + "tokens_per_day"), Money: k.Float64(at + "money_per_day"),
			Currency: k.String(at + "currency")}
		if err := (scrollback.KeyLimits{SpendLimit: a}).Check(); err != nil {
			return scrollback.ParamErrorf("scrollback", "projects", i18n.ProjectsSetting, name, terminal.ExplainError(err))
		}
		s.Allowances[name] = a
	}
	return nil
}

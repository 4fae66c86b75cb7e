package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model"
	providers "github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/server/access"
	"github.com/scrollback-ai/scrollback/token"
)

// settings are read from flags, environment and config file, in this order: the first
// that sets a value counts.
type settings struct {
	Data           string
	Objects        string // URL; empty for a folder beside the data
	Model          string
	Limit          int64 // tokens; 0 leaves it to the model
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
	Limits         limits       // of what comes in
	Roots          []string     // granted without --root; nil leaves it to the command
	NoEnvironment  bool         // conversations are not told where they work
	MemoryFiles    []string     // names of memory files; nil leaves them to the workspace
	Setup          string       // what the environment ends with
	TrashDays      int64        // after which a server purges what is in the trash; 0 for never
	LogLevel       slog.Level
	LogJSON        bool
	TrustedProxies access.Proxies                  // whose forwarded headers count
	Hosts          []string                        // names of the server
	Traces         bool                            // are sent, to where OTEL_EXPORTER_OTLP_ENDPOINT says
	SearXNG        string                          // address of a server that searches the web; empty for none
	WebSearch      string                          // as engine.Options has it
	Rate           scrollback.Rate                 // of each actor's chats; zero for the server's default
	Allowances     map[string]scrollback.Allowance // of projects, for a day
	variables      map[string]string               // what the file sets in place of environment variables
}

// dot separates the keys of the configuration: model names contain dots.
const dot = "\x1f"

// keys are those of a config file and their types; * stands for a name.
var keys = map[string]string{
	"data": "text", "objects": "text", "model": "text", "limit": "whole number", "addr": "text", "policy": "text", "summary_model": "text or list of texts", "summary_timeout": "text",
	"root": "text or list of texts", "environment": "true or false", "memory_files": "text or list of texts", "setup": "text", "eager": "true or false", "titles": "text", "title_model": "text", "trash_days": "whole number",
	"log_level": "text", "log_format": "text", "traces": "true or false",
	"trusted_proxies": "text or list of texts", "hosts": "text or list of texts",
	"searxng": "text", "web_search": "text",
	"rate_limit":                "text",
	"projects.*.tokens_per_day": "whole number", "projects.*.money_per_day": "number", "projects.*.currency": "text",
	"compaction.*": "number", "projects.*.policy": "text", "projects.*.compaction.*": "number",
	"providers.*.api_key": "text", "providers.*.base_url": "text",
	"models.*.limit": "whole number", "models.*.max_output": "whole number", "models.*.price_input": "number",
	"models.*.price_cached_input": "number", "models.*.price_output": "number", "models.*.factor": "number", "models.*.currency": "text", "models.*.strict": "text",
	"reply.chars": "whole number", "reply.reasoning_chars": "whole number", "reply.argument_bytes": "whole number", "reply.opaque_bytes": "whole number",
	"reply.calls": "whole number", "reply.frame_bytes": "whole number", "reply.seconds": "whole number",
	"limits.body_bytes": "whole number", "limits.message_chars": "whole number", "limits.parts": "whole number", "limits.attachment_bytes": "whole number",
	"limits.import_bytes": "whole number",
}

// named are the tables whose keys are names.
var named = []string{"providers.", "models.", "projects.", "compaction.", "projects.*.compaction."}

// renamed are old names of tables, which are still read, and their new ones.
var renamed = map[string]string{"folding": "compaction", "projects.*.folding": "projects.*.compaction"}

// configure reads the config file and puts flags and environment over it.
func (g *globals) configure() error {
	k := koanf.New(dot)
	file, err := g.configFile()
	if err == nil && file != "" {
		err = loadConfig(k, file, g.stderr)
	}
	if err != nil {
		return err
	}
	if err := (scrollback.Thinking{Effort: g.Effort}).Check(); err != nil {
		return err
	}
	g.set, err = parseSettings(k, g, os.Getenv)
	if err != nil && file != "" && scrollback.CodeOf(err) == scrollback.Invalid {
		return scrollback.ParamErrorf("scrollback", "config", "%s: %s", file, explain(err))
	}
	return err
}

// configFile is the file to read: the one given, or the user's own if there is one.
func (g *globals) configFile() (string, error) {
	for _, name := range []string{g.Config, os.Getenv("SCROLLBACK_CONFIG")} {
		if name != "" {
			return name, nil
		}
	}
	own, err := userFolders()
	if err != nil {
		return "", nil // a user without a home folder has no file
	}
	name := filepath.Join(own.config, "config.toml")
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return name, nil
}

// fileText is a file's content, as koanf reads it.
type fileText []byte

// ReadBytes implements koanf.Provider.
func (t fileText) ReadBytes() ([]byte, error) { return t, nil }

// Read implements koanf.Provider.
func (t fileText) Read() (map[string]any, error) { return nil, errors.New("the file is text") }

// loadConfig reads a file. Errors name the file and the key, never a value: that may
// be a secret.
func loadConfig(k *koanf.Koanf, file string, warnings io.Writer) error {
	bad := func(format string, args ...any) error {
		return scrollback.ParamErrorf("scrollback", "config", "%s: %s", file, fmt.Sprintf(format, args...))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return scrollback.ParamErrorf("scrollback", "config", "%w", err)
	}
	if err := k.Load(fileText(text), toml.Parser()); err != nil {
		var at interface{ Position() (row, column int) }
		if errors.As(err, &at) {
			row, column := at.Position()
			return bad("line %d, column %d is not TOML", row, column)
		}
		return bad("not a TOML file")
	}
	if why := wrongKey(k.Raw(), "", ""); why != "" {
		return bad("%s", why)
	}
	if info, err := os.Stat(file); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 && hasSecret(k) {
		fmt.Fprintf(warnings, "scrollback: %s holds keys and others can read it; chmod 600 it\n", file)
	}
	return nil
}

// wrongKey says which key of a table is unknown or of the wrong type; "" if none is.
// path is where the table stands, pattern the same with names as stars.
func wrongKey(table map[string]any, path, pattern string) string {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		at, as := path+name, pattern+name
		if slices.Contains(named, pattern) {
			at, as = path+strconv.Quote(name), pattern+"*"
		}
		as = cmp.Or(renamed[as], as)
		v := table[name]
		inner, isTable := v.(map[string]any)
		if kind, known := keys[as]; known {
			if !isKind(v, kind) {
				return fmt.Sprintf("%s must be a %s", at, kind)
			}
			continue
		}
		inside := slices.ContainsFunc(slices.Collect(maps.Keys(keys)), func(k string) bool { return strings.HasPrefix(k, as+".") })
		switch {
		case !inside:
			return fmt.Sprintf("unknown key %s", at)
		case !isTable:
			return fmt.Sprintf("%s must be a table", at)
		}
		if why := wrongKey(inner, at+".", as+"."); why != "" {
			return why
		}
	}
	return ""
}

func isKind(v any, kind string) bool {
	list, isList := v.([]any)
	_, isText := v.(string)
	_, isWhole := v.(int64)
	_, isNumber := v.(float64)
	_, isBool := v.(bool)
	switch kind {
	case "text":
		return isText
	case "whole number":
		return isWhole
	case "true or false":
		return isBool
	case "number":
		return isWhole || isNumber
	}
	return isText || isList && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok })
}

func hasSecret(k *koanf.Koanf) bool {
	return slices.ContainsFunc(k.Keys(), func(key string) bool { return strings.HasSuffix(key, dot+"api_key") })
}

// parseSettings puts flags and environment over the file and checks the result.
func parseSettings(k *koanf.Koanf, g *globals, env func(string) string) (settings, error) {
	bad := func(key, format string, args ...any) error {
		return scrollback.ParamErrorf("scrollback", key, format, args...)
	}
	texts := func(key string) []string {
		if one := k.String(key); one != "" && len(k.Strings(key)) == 0 {
			return []string{one}
		}
		return k.Strings(key)
	}
	s := settings{Limit: k.Int64("limit"), SummaryModels: texts("summary_model"), Setup: k.String("setup"), TrashDays: k.Int64("trash_days"), Eager: k.Bool("eager"),
		NoEnvironment: k.Exists("environment") && !k.Bool("environment")}
	if k.Exists("memory_files") {
		s.MemoryFiles = append([]string{}, texts("memory_files")...)
	}
	switch list := env("SCROLLBACK_ROOT"); {
	case list != "": // an empty name in it is none
		s.Roots = slices.DeleteFunc(filepath.SplitList(list), func(name string) bool { return name == "" })
	case k.Exists("root"):
		s.Roots = append([]string{}, texts("root")...)
	}
	if list := env("SCROLLBACK_SUMMARY_MODEL"); list != "" {
		s.SummaryModels = strings.Split(list, ",")
	}
	first := func(values ...string) string {
		i := slices.IndexFunc(values, func(v string) bool { return v != "" })
		return append(values, "")[max(i, 0)]
	}
	s.Data = first(g.Data, env("SCROLLBACK_DATA"), k.String("data"))
	s.Objects = first(g.Objects, env("SCROLLBACK_OBJECTS"), k.String("objects"))
	s.Model = first(g.Model, env("SCROLLBACK_MODEL"), k.String("model"), "offline")
	s.Addr = first(env("SCROLLBACK_ADDR"), k.String("addr"), "127.0.0.1:7077")
	s.Compaction.Policy = first(env("SCROLLBACK_POLICY"), k.String("policy"))
	if text := env("SCROLLBACK_LIMIT"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return s, bad("limit", "SCROLLBACK_LIMIT=%q is not a number of tokens", text)
		}
		s.Limit = n
	}
	if g.Limit != 0 {
		s.Limit = g.Limit
	}
	if s.Limit < 0 {
		return s, bad("limit", "limit is a number of tokens, or 0 for the model's own")
	}
	if s.TrashDays < 0 {
		return s, bad("trash_days", "trash_days is a number of days, or 0 for never")
	}
	err := cmp.Or(s.parseServing(texts), s.parseTimeout(first(g.SummaryTimeout, env("SCROLLBACK_SUMMARY_TIMEOUT"), k.String("summary_timeout"))))
	if err == nil {
		err = s.parseReports(k, env)
	}
	if err == nil {
		err = s.parseTitles(first(env("SCROLLBACK_TITLE_MODEL"), k.String("title_model")), first(env("SCROLLBACK_TITLES"), k.String("titles"), string(engine.TitlesModel)))
	}
	if err == nil {
		err = s.parseSearch(first(env("SCROLLBACK_SEARXNG"), k.String("searxng")), first(env("SCROLLBACK_WEB_SEARCH"), k.String("web_search")))
	}
	if err == nil {
		err = s.parseCompaction(k)
	}
	if err == nil {
		err = s.parseRates(k, first(env("SCROLLBACK_RATE_LIMIT"), k.String("rate_limit")))
	}
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
	return s, err
}

// parseTimeout reads how long a request waits for a summary; empty leaves it to the engine.
func (s *settings) parseTimeout(text string) error {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return scrollback.ParamErrorf("scrollback", "summary_timeout", "summary_timeout is a time such as 30s or 2m, or 0s for not waiting, not %q", text)
	}
	if s.SummaryTimeout = d; d == 0 {
		s.SummaryTimeout = -1
	}
	return nil
}

// parseReports reads what the log takes, in which form, and whether traces are sent.
func (s *settings) parseReports(k *koanf.Koanf, env func(string) string) error {
	level := cmp.Or(env("SCROLLBACK_LOG_LEVEL"), k.String("log_level"), "warn")
	if err := s.LogLevel.UnmarshalText([]byte(level)); err != nil {
		return scrollback.ParamErrorf("scrollback", "log_level", "log_level is debug, info, warn or error, not %q", level)
	}
	format := cmp.Or(env("SCROLLBACK_LOG_FORMAT"), k.String("log_format"), "text")
	if format != "text" && format != "json" {
		return scrollback.ParamErrorf("scrollback", "log_format", "log_format is text or json, not %q", format)
	}
	s.LogJSON = format == "json"
	if s.Traces = k.Bool("traces"); !k.Exists("traces") {
		s.Traces = cmp.Or(env("OTEL_EXPORTER_OTLP_ENDPOINT"), env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")) != ""
	}
	return nil
}

// parseSearch reads who searches the web: the address of a SearXNG, and which way is taken.
func (s *settings) parseSearch(searxng, way string) error {
	s.SearXNG, s.WebSearch = searxng, cmp.Or(way, engine.WebSearchAuto)
	ways := []string{engine.WebSearchAuto, engine.WebSearchProvider, engine.WebSearchSearXNG, engine.WebSearchOff}
	if !slices.Contains(ways, s.WebSearch) {
		return scrollback.ParamErrorf("scrollback", "web_search", "web_search is one of %s, not %q", strings.Join(ways, ", "), s.WebSearch)
	}
	return nil
}

// parseServing reads the names of a server, and the proxies in front of it.
func (s *settings) parseServing(texts func(key string) []string) (err error) {
	s.Hosts = append(s.Hosts, texts("hosts")...)
	s.TrustedProxies, err = access.ParseProxies(texts("trusted_proxies"))
	return err
}

// parseTitles reads where titles come from, and whom to ask.
func (s *settings) parseTitles(ask, text string) error {
	s.TitleModel, s.Titles = ask, engine.Titles(text)
	if slices.Contains([]engine.Titles{engine.TitlesModel, engine.TitlesPrompt, engine.TitlesOff}, s.Titles) {
		return nil
	}
	return scrollback.ParamErrorf("scrollback", "titles", "titles is model, prompt or off, not %q", text)
}

// parseCompaction reads how conversations are compacted, and checks it with every
// policy: a conversation may name any.
func (s *settings) parseCompaction(k *koanf.Koanf) error {
	read := func(table string) map[string]float64 {
		at, out := table+"compaction", map[string]float64{}
		if !k.Exists(at) {
			at = table + "folding" // the old name
		}
		for _, name := range k.MapKeys(at) {
			out[name] = k.Float64(at + dot + name)
		}
		return out
	}
	s.Compaction.Numbers, s.Projects = read(""), map[string]engine.PolicySettings{}
	for _, name := range k.MapKeys("projects") {
		at := "projects" + dot + name + dot
		s.Projects[name] = engine.PolicySettings{Policy: k.String(at + "policy"), Numbers: read(at)}
	}
	judge := func(where string, f engine.PolicySettings) error {
		for _, policy := range []string{f.Policy, compact.Snapshot, compact.Rolling, compact.Segments} {
			if _, err := compact.Named(policy, true, s.Compaction.Numbers, f.Numbers); err != nil {
				return scrollback.ParamErrorf("scrollback", "compaction", "%spolicy %s: %s", where, cmp.Or(policy, compact.Auto), explain(err))
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

// providerVariables maps the variables that providers read to their values in the
// file.
func providerVariables(k *koanf.Koanf) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range k.MapKeys("providers") {
		p, ok := providers.Provider(name)
		if !ok {
			return nil, scrollback.ParamErrorf("scrollback", "providers", "providers.%q: there is no such provider (%s)", name, strings.Join(providers.Names(), ", "))
		}
		variables := map[string]string{"api_key": p.Key, "base_url": p.Base}
		for _, key := range k.MapKeys("providers" + dot + name) {
			out[variables[key]] = k.String("providers" + dot + name + dot + key)
		}
	}
	return out, nil
}

// modelFacts are the tables of models, by name.
func modelFacts(k *koanf.Koanf) (map[string]token.Facts, error) {
	out := map[string]token.Facts{}
	for _, name := range k.MapKeys("models") {
		if !strings.Contains(name, "/") && name != "offline" {
			return nil, scrollback.ParamErrorf("scrollback", "models", "models.%q is not named provider/name", name)
		}
		at := "models" + dot + name + dot
		f := token.Facts{Limit: k.Int64(at + "limit"), MaxOutput: k.Int64(at + "max_output"), Factor: k.Float64(at + "factor")}
		p := token.Price{Input: k.Float64(at + "price_input"), CachedInput: k.Float64(at + "price_cached_input"),
			Output: k.Float64(at + "price_output"), Currency: cmp.Or(k.String(at+"currency"), "USD")}
		if min(float64(f.Limit), float64(f.MaxOutput), p.Input, p.CachedInput, p.Output, f.Factor) < 0 {
			return nil, scrollback.ParamErrorf("scrollback", "models", "models.%q: a number is below zero", name)
		}
		if p.Input > 0 || p.Output > 0 {
			f.Price = &p
		}
		if f != (token.Facts{}) {
			out[name] = f
		}
	}
	return out, nil
}

// modelStrictness is what the file says about models' chat templates, by name.
func modelStrictness(k *koanf.Koanf) (map[string]scrollback.Strictness, error) {
	out := map[string]scrollback.Strictness{}
	for _, name := range k.MapKeys("models") {
		switch s := scrollback.Strictness(k.String("models" + dot + name + dot + "strict")); s {
		case scrollback.StrictNothing:
		case scrollback.StrictTurns, scrollback.StrictNoSystem:
			out[name] = s
		default:
			return nil, scrollback.ParamErrorf("scrollback", "models", "models.%q: strict is %s or %s, not %q", name, scrollback.StrictTurns, scrollback.StrictNoSystem, s)
		}
	}
	return out, nil
}

// replyBounds bound one reply of a model.
func replyBounds(k *koanf.Koanf) (model.Bounds, error) {
	n := func(key string) int { return int(k.Int64("reply" + dot + key)) }
	for _, key := range k.MapKeys("reply") {
		if v := k.Int64("reply" + dot + key); v < 0 || v > 1<<31 {
			return model.Bounds{}, scrollback.ParamErrorf("scrollback", "reply", "reply.%s is a number from 0, for its default, to 2147483648", key)
		}
	}
	return model.Bounds{Chars: n("chars"), ReasoningChars: n("reasoning_chars"), ArgumentBytes: n("argument_bytes"), OpaqueBytes: n("opaque_bytes"),
		Calls: n("calls"), FrameBytes: n("frame_bytes"), Duration: time.Duration(n("seconds")) * time.Second}, nil
}

// env reads the environment, then what the config file sets in its place.
func (s *settings) env(name string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return s.variables[name]
}

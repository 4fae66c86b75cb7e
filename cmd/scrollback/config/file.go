package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// dot separates the keys of the configuration: model names contain dots.
const dot = "\x1f"

// keys are those of a config file and their types; * stands for a name.
var keys = map[string]string{
	"data": "text", "store": "text", "objects": "text", "downloads": "text", "model": "text", "limit": "whole number",
	"addr": "text", "policy": "text", "summary_model": "text or list of texts", "summary_timeout": "text",
	"root": "text or list of texts", "environment": "true or false", "memory_files": "text or list of texts",
	"setup": "text", "eager": "true or false", "remote_images": "true or false", "titles": "text", "title_model": "text", "keep": "text", "projects.*.keep": "text",
	"trash_days": "whole number",
	"log_level":  "text", "log_format": "text", "traces": "true or false",
	"trusted_proxies": "text or list of texts", "hosts": "text or list of texts",
	"searxng": "text", "web_search": "text", "embeddings.model": "text",
	"rate_limit": "text", "grace": "text",
	"projects.*.tokens_per_day": "whole number", "projects.*.money_per_day": "number", "projects.*.currency": "text",
	"compaction.*": "number", "projects.*.policy": "text", "projects.*.compaction.*": "number",
	"providers.*.api_key": "text", "providers.*.base_url": "text",
	"models.*.limit": "whole number", "models.*.max_output": "whole number", "models.*.price_input": "number",
	"models.*.price_cached_input": "number", "models.*.price_output": "number", "models.*.factor": "number",
	"models.*.currency": "text", "models.*.strict": "text",
	"reply.chars": "whole number", "reply.reasoning_chars": "whole number", "reply.argument_bytes": "whole number",
	"reply.opaque_bytes": "whole number",
	"reply.calls":        "whole number", "reply.frame_bytes": "whole number", "reply.seconds": "whole number",
	"limits.body_bytes": "whole number", "limits.message_chars": "whole number", "limits.parts": "whole number",
	"limits.attachment_bytes": "whole number",
	"limits.import_bytes":     "whole number", "limits.images": "whole number", "limits.door_body_bytes": "whole number",
	"door.mode": "text", "door.models.*": "text", "door.pass_credentials": "true or false",
	"door.side_calls": "text", "door.recall": "text",
	"agents.allowed": "true or false", "agents.depth": "whole number", "agents.per_turn": "whole number",
	"agents.per_tree": "whole number",
	"agents.steps":    "whole number", "agents.tokens": "whole number",
	"backup.to": "text", "backup.keep": "text", "backup.at": "text", "backup.encrypt": "true or false",
	"encrypt.recipients": "text or list of texts",
	"sync.remotes":       "text or list of texts", "sync.remote_program": "text", "sync.key_env.*": "text",
	"watch": "true or false", "import.from": "text or list of texts", "import.exclude": "text or list of texts",
	"import.mask":       "true or false",
	"import.project_by": "text", "import.poll": "text",
	"hooks.exclude": "text or list of texts", "hooks.tell": "true or false", "hooks.tokens": "whole number",
	"hooks.scope": "text",
}

// namedTables are the tables whose keys are names.
var namedTables = []string{"providers.", "models.", "projects.", "compaction.", "projects.*.compaction.", "door.models.", "sync.key_env."}

// renamed are old names of tables, which are still read, and their new ones.
var renamed = map[string]string{"folding": "compaction", "projects.*.folding": "projects.*.compaction"}

// fileText is a file's content, as koanf reads it.
type fileText []byte

// ReadBytes implements koanf.Provider.
func (t fileText) ReadBytes() ([]byte, error) { return t, nil }

// Read implements koanf.Provider.
func (t fileText) Read() (map[string]any, error) { return nil, errors.New("the file is text") }

// loadConfig reads a file. Errors name the file and the key, never a value: that may
// be a secret.
func loadConfig(k *koanf.Koanf, file string, warnings io.Writer) error {
	bad := func(why scrollback.Sentence) error {
		return scrollback.ParamErrorf("scrollback", "config", "%s: %s", file, why)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return scrollback.ParamErrorf("scrollback", "config", "%w", err)
	}
	if err := k.Load(fileText(text), toml.Parser()); err != nil {
		var at interface{ Position() (row, column int) }
		if errors.As(err, &at) {
			row, column := at.Position()
			return bad(scrollback.NewSentence(i18n.PlaceIsNotTOML, row, column))
		}
		return bad(scrollback.NewSentence(i18n.FileIsNotTOML))
	}
	if why := wrongKey(k.Raw(), "", ""); why.Format != "" {
		return bad(why)
	}
	if info, err := os.Stat(file); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 &&
		hasSecret(k) {
		said := i18n.Of(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
		fmt.Fprintln(warnings, "scrollback:", said.Say(i18n.ConfigReadableByOthers, file))
	}
	return nil
}

// wrongKey returns which key of a table is unknown or of the wrong type; empty if none is.
// path is where the table stands, pattern the same with names as stars.
func wrongKey(table map[string]any, path, pattern string) scrollback.Sentence {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		at := path + name
		as := pattern + name
		if slices.Contains(namedTables, pattern) {
			at = path + strconv.Quote(name)
			as = pattern + "*"
		}
		as = cmp.Or(renamed[as], as)
		v := table[name]
		inner, isTable := v.(map[string]any)
		if kind, known := keys[as]; known {
			if !isKind(v, kind) {
				return scrollback.NewSentence(i18n.SettingMustBe, at, cmp.Or(i18n.Under("setting-kind", kind), i18n.ID(kind)))
			}
			continue
		}
		inside := slices.ContainsFunc(slices.Collect(maps.Keys(keys)),
			func(k string) bool { return strings.HasPrefix(k, as+".") })
		switch {
		case !inside:
			return scrollback.NewSentence(i18n.UnknownSetting, at)
		case !isTable:
			return scrollback.NewSentence(i18n.SettingMustBeTable, at)
		}
		if why := wrongKey(inner, at+".", as+"."); why.Format != "" {
			return why
		}
	}
	return scrollback.Sentence{}
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
	_, user, found := strings.Cut(k.String("store"), "://")
	named, _, isNamed := strings.Cut(user, "@")
	return found && isNamed && strings.Contains(named, ":") ||
		slices.ContainsFunc(k.Keys(), func(key string) bool { return strings.HasSuffix(key, dot+"api_key") })
}

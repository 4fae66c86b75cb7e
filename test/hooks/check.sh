#!/usr/bin/env bash
# Do hooks reach the model of real agents, and does removing them leave no trace?
# usage: check.sh [agent …]     needs Node 22 (for pi, gemini, qwen) and npm; AGENTS=dir with installed programs
#   HOOK       the program that is wired in, by its absolute path
#   SEED       a command that fills what HOOK remembers, called with the agent's name, HOME set, in the project's folder:
#              MARK-START in what a new session is told there (an open request), MARK-PROMPT in an original that FIRST asks for
#   FIRST      the first prompt (default: "First question.")
#   INSTALL    a command that wires it, called with the agent's name and HOME set
#   UNINSTALL  the same for removing it
# For each agent: in an empty home, wire, run a new session, run it again resumed, remove. Passes when the first
# request has both marks once, no request of the resumed run has the start mark more often than it may, and the
# home's own files are byte for byte what they were.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
FIRST=${FIRST:-First question.}; PORT=${PORT:-28900}; AGENTS=${AGENTS:-$here/agents}
work=$(mktemp -d); export HOOKLOG=$work/hooks.log; touch "$HOOKLOG"
trap 'kill $stub 2>/dev/null; [ -n "${KEEP:-}" ] && echo "kept $work" || rm -rf "$work"' EXIT
OUT=$work/requests.ndjson PORT=$PORT node "$here/stub.mjs" >/dev/null & stub=$!
sleep 1
url=http://127.0.0.1:$PORT; passed=0; failed=0
bin() { find -L "$AGENTS" -path "*/node_modules/.bin/$1" 2>/dev/null | head -1; }
wire() { $INSTALL "$1"; }
unwire() { $UNINSTALL "$1"; }
before() { # the user's own files, with comments and odd spaces, that must stay as they are
	case $1 in
	claude) mkdir -p $HOME/.claude; printf '{\n    "permissions":   {"allow": ["Bash(ls:*)"]}\n}\n' >$HOME/.claude/settings.json; own=.claude/settings.json ;;
	codex) mkdir -p $HOME/.codex; printf '# mine\nmodel = "stub-1"   # keep\nmodel_provider = "stub"\n[model_providers.stub]\nname = "stub"\nbase_url = "%s/v1"\nwire_api = "responses"\nenv_key = "STUB_KEY"\n\n# trusted\n[projects."%s"]\ntrust_level = "trusted"\n' $url $work/project >$HOME/.codex/config.toml; own=.codex/config.toml ;;
	gemini) mkdir -p $HOME/.gemini; printf '{\n  // mine\n    "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n' >$HOME/.gemini/settings.json; own=.gemini/settings.json ;;
	qwen) mkdir -p $HOME/.qwen; printf '{\n  // mine\n  "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}}, "model": {"name": "stub-1"},\n  "general": {"disableAutoUpdate": true}, "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}, "$version": 4\n}\n' >$HOME/.qwen/settings.json; own=.qwen/settings.json ;;
	opencode|kilo) c=$HOME/.config/$1; mkdir -p $c; printf '{\n  // mine\n  "autoupdate": false, "share": "disabled", "model": "s/stub-1",\n  "provider": {"s": {"npm": "@ai-sdk/openai-compatible", "name": "s", "options": {"baseURL": "%s/v1", "apiKey": "k"}, "models": {"stub-1": {"name": "stub", "limit": {"context": 60000, "output": 4000}, "tool_call": true}}}}\n}\n' $url >$c/$1.jsonc; own=.config/$1/$1.jsonc ;;
	pi) mkdir -p $HOME/.pi/agent; printf '{"providers":{"s":{"baseUrl":"%s/v1","api":"openai-completions","apiKey":"k","models":[{"id":"stub-1","name":"stub","reasoning":false,"input":["text"],"contextWindow":60000,"maxTokens":4000,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}' $url >$HOME/.pi/agent/models.json; own=.pi/agent/models.json ;;
	cline) mkdir -p $HOME/.cline/data/settings; printf '{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":{"settings":{"provider":"openai-compatible","apiKey":"k","model":"stub-1","baseUrl":"%s/v1"},"updatedAt":"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}' $url >$HOME/.cline/data/settings/providers.json; own= ;;
	*) own= ;;
	esac
}
say() { # agent new|again prompt
	local again=; [ "$2" = again ] && again=1
	case $1 in
	claude) ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=k DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 "$(bin claude)" ${again:+--continue} -p "$3" ;;
	codex) STUB_KEY=k "$(bin codex)" exec --skip-git-repo-check --dangerously-bypass-hook-trust ${again:+resume --last} "$3" ;;
	gemini) GOOGLE_GEMINI_BASE_URL=$url GEMINI_API_KEY=k GEMINI_CLI_TRUST_WORKSPACE=true "$(bin gemini)" -m gemini-2.5-flash ${again:+--resume latest} -p "$3" ;;
	qwen) OPENAI_API_KEY=k OPENAI_BASE_URL=$url/v1 OPENAI_MODEL=stub-1 "$(bin qwen)" ${again:+--continue} -p "$3" ;;
	copilot) COPILOT_AUTO_UPDATE=false COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=$url/v1 COPILOT_PROVIDER_API_KEY=k COPILOT_MODEL=stub-1 COPILOT_PROVIDER_MAX_PROMPT_TOKENS=60000 "$(bin copilot)" ${again:+--continue} -p "$3" --allow-all-tools ;;
	opencode) "$(bin opencode)" run ${again:+--continue} "$3" ;;
	kilo) "$(find -L "$AGENTS" -path '*@kilocode/cli-linux-x64/bin/kilo' | head -1)" run ${again:+--continue} --auto "$3" ;;
	pi) "$(bin pi)" --provider s --model stub-1 ${again:+--continue} -p "$3" ;;
	cline) HOME=$HOME "$(bin cline)" --json -P openai-compatible -m stub-1 -k k "$3" ;;
	esac
}
most() { awk '{n = gsub(/MARK-/, "MARK-"); if (n >= best) {best = n; line = $0}} END {print line}'; }
count() { grep -o "$1" <<<"$2" | wc -l; }
for a in ${@:-claude codex gemini qwen copilot opencode kilo pi cline}; do
	export HOME=$work/home-$a; mkdir -p "$HOME" "$work/project"; cd "$work/project"; [ -d .git ] || git init -q .
	unset XDG_CONFIG_HOME XDG_DATA_HOME CODEX_HOME CLAUDE_CONFIG_DIR; before $a
	[ -z "${SEED:-}" ] || $SEED "$a" || { echo "FAIL $a: SEED"; failed=$((failed + 1)); continue; }
	# Some rewrite their own settings on the first start; that is not ours to answer for.
	case $a in opencode|kilo) ( say $a new "Settling." ) >$work/log.$a 2>&1 </dev/null ;; esac
	sum=$([ -n "$own" ] && sha256sum <"$HOME/$own"); wire $a; why=
	: >$work/requests.ndjson; ( say $a new "$FIRST" ) >$work/log.$a 2>&1 </dev/null
	# Titles and the like are asked for beside it: the request of the turn is the one with the most marks.
	first=$(grep -F "$FIRST" $work/requests.ndjson | most)
	[ -n "$first" ] || why="no request arrived: $(tail -3 $work/log.$a | tr '\n' ' ' | cut -c1-200)"
	[ -n "$why" ] || [ $(count MARK-START "$first") = 1 ] || why="start mark $(count MARK-START "$first") times in the first request"
	[ -n "$why" ] || [ $(count MARK-PROMPT "$first") = 1 ] || why="prompt mark $(count MARK-PROMPT "$first") times in the first request"
	if [ -z "$why" ] && [ $a != cline ]; then
		: >$work/requests.ndjson; ( say $a again "Second question." ) >$work/log.$a 2>&1 </dev/null
		second=$(grep -F 'Second question.' $work/requests.ndjson | grep -F 'The stub has answered.' | most)
		if [ -z "$second" ]; then why="not resumed: $(tail -3 $work/log.$a | tr '\n' ' ' | cut -c1-200)"
		else again=$(count MARK-START "$second"); fi
	fi
	unwire $a
	[ -z "$own" ] || [ "$(sha256sum <"$HOME/$own")" = "$sum" ] || why="${why:+$why; }$own was changed"
	left=$(grep -rlF "$HOOK" "$HOME" --include='*.json' --include='*.jsonc' --include='*.toml' --include='*.js' --include='*.ts' --include='*.yaml' 2>/dev/null | grep -vE '/(projects|sessions|session-state|chats|tmp|logs|history|cache)/' | head -3)
	[ -z "$left" ] || why="${why:+$why; }left behind in $left"
	if [ -z "$why" ]; then passed=$((passed + 1)); echo "ok   $a: start and prompt reached the model; on resume the start text is there ${again:-?} time(s)"
	else failed=$((failed + 1)); echo "FAIL $a: $why"; fi
	again=
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]

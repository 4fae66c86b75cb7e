package usage

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/server/language"
)

// Said is an error in Chinese; english is how it is explained otherwise. What has no
// sentence of its own is said by its code, with the English behind it.
func Said(err error, english string) string {
	if strings.ContainsFunc(english, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return english // it was said in Chinese where it was made
	}
	if parsed := Misread(english); parsed != english {
		return parsed
	}
	all := language.Chinese.Sentences()
	maps.Copy(all, sentences)
	s := scrollback.SentenceOf(err)
	if s.String() == english {
		if sentences[s.Format] != "" {
			return s.In(all)
		}
		return language.Chinese.Shown(err)
	}
	if s = own(err); s.String() == english && all[s.Format] != "" {
		return s.In(all)
	}
	return codes[scrollback.CodeOf(err)] + english
}

// own is what an error itself says: the person at the terminal sees all of it, and not only
// the kind of what is unavailable, or internal.
func own(err error) scrollback.Sentence {
	var known *scrollback.Error
	if !errors.As(err, &known) {
		return scrollback.Sentence{}
	}
	shown := *known
	shown.Code = scrollback.Invalid
	return scrollback.SentenceOf(&shown)
}

var codes = map[scrollback.Code]string{scrollback.Invalid: "请求有误：", scrollback.NotFound: "找不到：",
	scrollback.Conflict: "冲突：", scrollback.OverBudget: "超出预算：",
	scrollback.Refused: "不允许：", scrollback.RateLimited: "请求过于频繁：", scrollback.Unavailable: "暂时无法完成：",
	scrollback.Canceled: "已停止：", scrollback.Internal: "内部错误："}

// Misread is what the parser says of a line, in Chinese.
func Misread(english string) string {
	for _, m := range misread {
		english = m.what.ReplaceAllString(english, m.says)
	}
	return english
}

var misread = []struct {
	what *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`^unexpected argument (\S+)`), "多余的参数 $1"},
	{regexp.MustCompile(`^unknown command (.+?)(,|$)`), "未知的命令 $1$2"},
	{regexp.MustCompile(`^unknown flag (\S+?)(,|$)`), "未知的选项 $1$2"},
	{regexp.MustCompile(`, did you mean one of (.*)\?$`), "，您是指以下之一吗：$1？"},
	{regexp.MustCompile(`, did you mean (.*)\?$`), "，您是指 $1 吗？"},
	{regexp.MustCompile(`^missing flags: `), "缺少选项："},
	{regexp.MustCompile(`^expected one of `), "应为以下之一："},
	{regexp.MustCompile(`^expected "(.*)"$`), `缺少 “$1”`},
	{regexp.MustCompile(`^(\S+): expected an? (?:valid )?\d+ bit u?int but got (.*)$`), "$1：应为整数，而不是 $2"},
	{regexp.MustCompile(`^(\S+): expected (.*) but got (.*)$`), "$1：应为 $2，而不是 $3"},
	{regexp.MustCompile(`^(\S+) must be one of (.*) but got (.*)$`), "$1 必须是 $2 之一，而不是 $3"},
	{regexp.MustCompile(`^(\S+): missing value.*$`), "$1：缺少值"},
}

// Format returns what says the formats of the command line in a person's language.
func Format(chinese bool) func(string) string {
	return func(english string) string {
		if !chinese {
			return english
		}
		return cmp.Or(formats[english], english)
	}
}

// formats are those of what is said beside the tables of an import.
var formats = map[string]string{
	"line %d skipped: %s": "跳过第 %d 行：%s",
	"and %s more":         "另有 %s 处",
	"the archive is unsealed (an older program wrote it): whether it was changed cannot be told": "归档没有封印（由旧版程序写出）：无法判断是否被更改",
	"%s, line %d":     "%s，第 %d 行",
	"%s: %s: %s":      "%s：%s：%s",
	"%s: and %s more": "%s：另有 %s 处",
}

// sentences are those of the command line and of the chat.
var sentences = map[string]string{
	"name the conversation once: %s, or --resume %s":                                                                         "对话只需指定一次：%s，或 --resume %s",
	"--expires is a time such as 12h, 90d or 2w, not %q":                                                                     "--expires 是一段时间，例如 12h、90d 或 2w，不能是 %s",
	"--retry takes a --conversation and no prompt":                                                                           "--retry 需要 --conversation，且不带提示",
	"--all prints from the first message to the last: leave out --after and --before":                                        "--all 从第一条消息显示到最后一条：请不要写 --after 和 --before",
	"objects is s3://BUCKET[/PREFIX][?region=…&endpoint=…], gs://BUCKET, azblob://CONTAINER, file:///FOLDER or memory:":      "objects 应为 s3://BUCKET[/PREFIX][?region=…&endpoint=…]、gs://BUCKET、azblob://CONTAINER、file:///FOLDER 或 memory:",
	"this program was built without %s object stores: build it with go build -tags allclouds ./cmd/scrollback, or use s3://": "本程序在构建时未包含 %s 的对象存储：请用 go build -tags allclouds ./cmd/scrollback 构建，或使用 s3://",
	"this program has no client for %s:// object stores: open it with cloud.Open, or use file:///FOLDER":                     "本程序没有 %s:// 对象存储的客户端：请用 cloud.Open 打开，或使用 file:///FOLDER",
	"this program has no client for PostgreSQL: open it with cloud.Open, or use sqlite:///PATH":                              "本程序没有 PostgreSQL 的客户端：请用 cloud.Open 打开，或使用 sqlite:///PATH",
	"downloads is server or signed, not %q":                                                                                  "downloads 应为 server 或 signed，不能是 %s",
	"no server responds at %s":                                                                                               "%s 没有服务器响应",
	"what responds at %s is not scrollback (status %d)":                                                                      "在 %s 响应的不是 scrollback（状态 %s）",
	"the new title is empty":              "新标题为空",
	"standard input is not text in UTF-8": "标准输入不是 UTF-8 文本",
	"standard input is neither text in UTF-8 nor an image (PNG, JPEG, GIF or WebP)":   "标准输入既不是 UTF-8 文本，也不是图片（PNG、JPEG、GIF 或 WebP）",
	"standard input is over the limit of %d bytes":                                    "标准输入超过 %s 字节的上限",
	"--clear %s: the project %s has nothing of this name":                             "--clear %s：项目 %s 没有这个名称的内容",
	"the data folder %s cannot be used: %s":                                           "数据文件夹 %s 无法使用：%s",
	"the data folder %s is a file":                                                    "数据文件夹 %s 是一个文件",
	"the data folder %s cannot be made: %s is a file":                                 "无法创建数据文件夹 %s：%s 是一个文件",
	"the data folder %s cannot be made: %s":                                           "无法创建数据文件夹 %s：%s",
	"--data is empty: name a folder, or leave it out":                                 "--data 为空：请指定文件夹，或不写这个选项",
	"%q is not HOST:PORT":                                                             "%s 不是“主机:端口”",
	"problems found":                                                                  "发现问题",
	"--cancel takes nothing but --from":                                               "--cancel 只能与 --from 一起使用",
	"name the database to copy to: --to URL":                                          "请指定要复制到的数据库：--to URL",
	"--%s is sqlite:///PATH or postgres://USER:PASSWORD@HOST/DATABASE":                "--%s 应为 sqlite:///PATH 或 postgres://USER:PASSWORD@HOST/DATABASE",
	"--objects-from without --objects-to: name where the objects go":                  "只有 --objects-from 而没有 --objects-to：请指定附件复制到哪里",
	"--objects-to without --objects-from: name where the objects are":                 "只有 --objects-to 而没有 --objects-from：请指定附件在哪里",
	"objects that last are in s3://BUCKET or file:///FOLDER":                          "能长期保存的附件位于 s3://BUCKET 或 file:///FOLDER",
	"there is no database at %s":                                                      "%s 处没有数据库",
	"the database at %s may not be read by this user (permission denied)":             "当前用户无权读取 %s 处的数据库（权限不足）",
	"nothing was changed, because the database could not be copied: %s":               "没有更改任何内容，因为无法复制数据库：%s",
	"%s (the repair ended early; the database as it was: %s)":                         "%s（修复提前结束；原来的数据库：%s）",
	"the meta of conversation %s is not an object, so no notebook can be noted in it": "对话 %s 的 meta 不是对象，无法在其中记录笔记本",
	"conversation %s of this notebook is in the trash: restore it first":              "此笔记本的对话 %s 在回收站中：请先取回",
	"a cell of this notebook is being run; wait for it, or stop it":                   "此笔记本有单元格正在运行：请等待或停止它",
	"%s was not written: others kept changing it":                                     "%s 没有写入：其他程序一直在更改它",
	"there is nothing to compress: no cell of the notebook says anything":             "没有可压缩的内容：笔记本的单元格都是空的",
	"the notebook could not be compressed: %s":                                        "无法压缩笔记本：%s",
	"cell %d: %w":                     "单元格 %s：%s",
	"%s: %w":                          "%s：%s",
	"the notebook cannot be read: %w": "无法读取笔记本：%s",
	"what was cell %d has been changed or removed; it and those below it were not run":                          "原来的单元格 %s 已被更改或删除；它和下面的单元格没有运行",
	"the cell is not in the notebook":                                                                           "单元格不在笔记本中",
	"name a file or a folder, or the tools whose files to find: --from all":                                     "请指定文件或文件夹，或要查找其文件的工具：--from all",
	"name a file: %q is not one of the tools (%s)":                                                              "请指定文件：%s 不是这些工具之一（%s）",
	"name a file: %s keeps nothing on this machine by itself":                                                   "请指定文件：%s 不会自行在本机保存内容",
	"--project-by is folder, not %q":                                                                            "--project-by 只能是 folder，不能是 %s",
	"%q is neither a tool (%s) nor a folder that is there":                                                      "%s 既不是工具（%s），也不是存在的文件夹",
	"%q is neither a tool (%s) nor an absolute folder":                                                          "%s 既不是工具（%s），也不是绝对路径的文件夹",
	"--into and --as-copy are for a single file, and not for what a tool keeps":                                 "--into 和 --as-copy 用于单个文件，不用于工具保存的内容",
	"--without and --with take a --conversation":                                                                "--without 和 --with 需要同时给出 --conversation",
	"a conversation is not exported as %s: name a file that ends in one of %s, or say the format with --format": "对话不能导出为 %s：请给出以 %s 之一结尾的文件名，或用 --format 指定格式",
	"%s looks like %s, but no talk could be read in it":                                                         "%s 看起来是 %s，但其中没有可读取的对话",
	"%d of %d sources could not be imported":                                                                    "有 %s 个来源（共 %s 个）无法导入",
	"nothing in %s could be read as a conversation":                                                             "%s 中没有可作为对话读取的内容",
	"%d of %d sessions could not be imported":                                                                   "有 %s 个会话（共 %s 个）无法导入",
	"nothing in %s is a conversation of %s":                                                                     "%s 中没有 %s 的对话",
	"nothing in %s is a conversation of %s; a folder is looked through %d levels deep, for what these tools keep, archives and files that end in %s": "%s 中没有 %s 的对话；文件夹会查找 %s 层：这些工具保存的内容、归档文件，以及以 %s 结尾的文件",
	"no conversations of %s were found; scrollback doctor agents --json lists all places tried":                                                      "没有找到 %s 的对话；scrollback doctor agents --json 列出查找过的位置",
	"no conversations of %s in %s":                                                         "没有 %s 的对话，查找过 %s",
	"--watch imports, and --read-only changes nothing: leave one out":                      "--watch 会导入，而 --read-only 不做任何更改：请去掉其中一个",
	"--poll is a time from 1s, such as 30s or 5m, not %q":                                  "--poll 是从 1s 起的一段时间，例如 30s 或 5m，不能是 %s",
	"import.project_by is folder, not %q":                                                  "import.project_by 只能是 folder，不能是 %s",
	"import.poll is a time from 1s, such as 30s or 5m, not %q":                             "import.poll 是从 1s 起的一段时间，例如 30s 或 5m，不能是 %s",
	"unknown tool %q (%s)":                                                                 "未知的工具 %s（%s）",
	"%s is neither a folder nor a file":                                                    "%s 既不是文件夹也不是文件",
	"%s is not there":                                                                      "%s 不存在",
	"%s may not be read: the rights are missing":                                           "%s 无法读取：没有权限",
	"there are more than %d sessions":                                                      "会话超过 %s 个",
	"nothing could be read; line %d: %s":                                                   "没有可读取的内容；第 %s 行：%s",
	"a bundle is binary: name a file with -o, or pipe it on":                               "bundle 是二进制文件：请用 -o 指定文件，或通过管道传递",
	"%s: the file's name must end in one of %s":                                            "%s：文件名必须以 %s 之一结尾",
	"cannot write to %s: %w":                                                               "无法写入 %s：%s",
	"--%s %q is not a day: write it as 2026-01-31":                                         "--%s %s 不是日期：请写成 2026-01-31 的形式",
	"%q is not a seq: 0, 1, 2 …":                                                           "%s 不是消息号：0、1、2 ……",
	"there is no branch %d: the list has %d":                                               "没有第 %s 个分支：列表共有 %s 个",
	"--from %s is later than --to %s":                                                      "--from %s 晚于 --to %s",
	"there is no number %d in the last list here, which has %d: run scrollback list again": "此终端上一次的列表没有第 %d 个，共 %d 个：请重新运行 scrollback list",
	"--from %s has not come yet: today is %s":                                              "--from %s 还没有到：今天是 %s",
	"there is no database at %s: check its name (--store, SCROLLBACK_STORE or store in the config file); run, chat, import and serve make one": "%s 处没有数据库：请检查名称（--store、SCROLLBACK_STORE 或配置文件中的 store）；run、chat、import 和 serve 会新建数据库",
	"there is no conversation in the project %s yet":                             "项目 %s 中还没有对话",
	"there are no conversations yet":                                             "还没有对话",
	"providers.%q: there is no such provider (%s)":                               "providers.%s：没有这个提供商（%s）",
	"models.%q is not named provider/name":                                       "models.%s 的名称不是 provider/name 的形式",
	"models.%q: a number is below zero":                                          "models.%s：有数值小于零",
	"models.%q: strict is %s or %s, not %q":                                      "models.%s：strict 是 %s 或 %s，不能是 %s",
	"reply.%s is a number from 0, for its default, to 2147483648":                "reply.%s 是 0（默认）到 2147483648 的数值",
	"limits.%s is a number from 0, for its default, to 1099511627776":            "limits.%s 是 0（默认）到 1099511627776 的数值",
	"trash_days is a number of days, or 0 for never":                             "trash_days 是天数，0 表示从不",
	"SCROLLBACK_LIMIT=%q is not a number of tokens":                              "SCROLLBACK_LIMIT=%s 不是 token 数",
	"limit is a number of tokens, or 0 for the model's own":                      "limit 是 token 数，0 表示模型自身的窗口",
	"grace is a time such as 5s, at most 10m, not %q":                            "grace 是一段时间，例如 5s，最长 10m，不能是 %s",
	"summary_timeout is a time such as 30s or 2m, or 0s for not waiting, not %q": "summary_timeout 是一段时间，例如 30s 或 2m，0s 表示不等待，不能是 %s",
	"log_level is debug, info, warn or error, not %q":                            "log_level 是 debug、info、warn 或 error，不能是 %s",
	"log_format is text or json, not %q":                                         "log_format 是 text 或 json，不能是 %s",
	"web_search is one of %s, not %q":                                            "web_search 是 %s 之一，不能是 %s",
	"titles is model, prompt or off, not %q":                                     "titles 是 model、prompt 或 off，不能是 %s",
	"%spolicy %s: %s":                                                            "%s策略 %s：%s",
	"projects.%q: %s":                                                            "projects.%s：%s",
	"%s: %s":                                                                     "%s：%s",
}

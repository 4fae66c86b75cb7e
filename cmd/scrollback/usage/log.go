package usage

import "cmp"

// Logged is a line of the log in Chinese, as far as it has one.
func Logged(english string) string { return cmp.Or(lines[english], english) }

// lines are what commands that a person waits for may log.
var lines = map[string]string{
	"the draft was not saved":                                    "草稿未能保存",
	"a search of the web was not kept":                           "网络搜索的结果未能保存",
	"a turn failed":                                              "这一轮失败了",
	"a search of the web failed":                                 "网络搜索失败",
	"the end of a turn was not stored":                           "这一轮的结束未能保存",
	"a conversation keeps the title of its first prompt":         "对话保留由首个提问得来的标题",
	"whether another server compacts could not be found out":     "无法确定是否有其他服务器正在压缩",
	"a compaction failed, and the request fits without it":       "压缩失败，但请求不压缩也放得下",
	"no model gave a summary; compacting without one":            "没有模型给出摘要；不用摘要进行压缩",
	"the archive after a compaction could not be written":        "压缩后的存档未能写入",
	"the file of a segment could not be written":                 "片段的文件未能写入",
	"a model for summaries cannot be used":                       "无法使用用于摘要的模型",
	"a model for summaries is not available":                     "用于摘要的模型不可用",
	"compacting ahead failed":                                    "提前压缩失败",
	"the connection for notifications was lost; polling goes on": "通知连接已断开；改为轮询",
	"the database's clock was set":                               "数据库的时钟被调整了",
	"what was written could not be numbered yet":                 "已写入的内容暂时无法编号",
	"what the database still holds could not be rescued":         "无法抢救数据库中仍有的内容",
	"the database that is open is no longer the one at its path; what could be read of it was copied, and nothing more is written until the program is started again": "已打开的数据库不再是其路径上的那一个；能读取的内容已复制，在重新启动程序之前不再写入",
	"a model panicked": "调用模型时程序内部出错",
	"a provider reported usage that cannot be; it is kept as an estimate":                                             "服务商报告的用量不可能成立；作为估计值保存",
	"what a server taught was not kept":                                                                               "从服务器学到的信息未能保存",
	"what a server's list says was not kept":                                                                          "服务器列表中的信息未能保存",
	"an artifact is damaged where it is; it was copied as it is":                                                      "有一个附件已损坏；已原样复制",
	"artifacts are kept in a folder of this machine; servers that share a database need one place for them (objects)": "附件保存在本机的文件夹中；共享数据库的各服务器需要共同的存放处（objects）",
	"others may read this, and it could not be changed":                                                               "其他用户可以读取此处，且无法更改",
	"the object store does not work now; /readyz says when it does again":                                             "对象存储目前不可用；恢复后 /readyz 会说明",
	"hashes of older messages could not be made":                                                                      "较早消息的校验值未能生成",
}

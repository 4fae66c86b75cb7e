package kept

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// plain are sentences that hold nothing which stays, as most do.
var plain = []string{
	"The second function reads the file line by line and counts the words.",
	"Could you check whether the test in the other folder still fails?",
	"We went to the market yesterday and bought two kilos of apples.",
	"昨天我们去市场买了两斤苹果，回来的路上下雨了。",
	"第二个函数逐行读取文件，然后统计单词的数量。",
}

func BenchmarkFindPlain(b *testing.B) {
	for i := range b.N {
		Find(scrollback.RoleUser, plain[i%len(plain)], "")
	}
}

func BenchmarkFindTalk(b *testing.B) {
	talk := strings.Repeat(strings.Join(plain, "\n")+"\n", 64<<10/len(strings.Join(plain, "\n")+"\n")+1)[:64<<10]
	b.SetBytes(int64(len(talk)))
	for range b.N {
		Find(scrollback.RoleUser, talk, "")
	}
}

func BenchmarkListEnds(b *testing.B) {
	for i := range b.N {
		ListEnds(scrollback.RoleUser, plain[i%len(plain)])
	}
}

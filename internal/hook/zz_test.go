package hook
import ("testing";"time";"context";"github.com/scrollback-ai/scrollback/local";"github.com/scrollback-ai/scrollback/internal/store/evidence";"github.com/scrollback-ai/scrollback/internal/place")
func TestZ(t *testing.T){
 p:=place.Find("/tmp/hk/shop"); ep:=evidence.Place{Folders:p.Folders,Has:p.Has}
 for i:=0;i<12;i++ {
 s:=time.Now(); st,_:=local.OpenInPassing(context.Background(),"/tmp/hk/bighome/.local/share/scrollback",""); o:=time.Since(s)
 s=time.Now(); f,_:=st.Stand(context.Background(),ep,evidence.Session{Tool:"claude-code",ID:"x"},0); sd:=time.Since(s)
 s=time.Now(); st.Find(context.Background(),evidence.Query{Prompt:"what did we decide about the crane lease",Place:ep}); fd:=time.Since(s)
 s=time.Now(); st.Find(context.Background(),evidence.Query{Prompt:"please fix the function that returns the wrong user name when the page is new and run the test with the old config",Place:ep}); fd2:=time.Since(s)
 if i<3||i>9 {t.Log(o,sd,fd,fd2,len(f))}; st.Close()}
}

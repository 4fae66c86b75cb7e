// What the reader says itself, in English and Chinese. What it shows is in English.
import { lang } from '../state/words.js';

const tables = {
  en: {
    search: 'Search', contents: 'Contents', nothing: 'Nothing is found.', parameters: 'Parameters', body: 'Body', returns: 'Returns',
    errors: 'Errors', required: 'required', byDefault: 'default', request: 'Request', response: 'Response', copy: 'Copy', copied: 'Copied',
    page: 'Conversations', raw: 'The description as OpenAPI', theme: 'Change the theme', keys: '/ search · j k next, previous',
    errorsAre: 'All have the body Fault, which says what is wrong.',
    failed: 'The description cannot be read.', signIn: 'This server wants a key. Sign in on its page, then come back.', file: 'a file', link: 'Link to this operation',
  },
  zh: {
    search: '搜索', contents: '目录', nothing: '没有找到。', parameters: '参数', body: '请求体', returns: '返回',
    errors: '错误', required: '必填', byDefault: '默认', request: '请求', response: '响应', copy: '复制', copied: '已复制',
    page: '对话', raw: 'OpenAPI 描述文件', theme: '切换主题', keys: '/ 搜索 · j k 下一个、上一个',
    errorsAre: '错误的响应体都是 Fault，其中说明了原因。',
    failed: '无法读取接口描述。', signIn: '此服务器需要密钥。请先在页面上登录，然后再回来。', file: '文件', link: '此操作的链接',
  },
};

export const say = (key) => tables[lang.value][key];

package i18n

// Sentences of errors of object stores.
var (
	NoSuchBucket = problem("no-such-bucket",
		"the object store has no such bucket: make it, or correct the setting objects",
		"对象存储中没有这个存储桶：请创建它，或更正设置 objects")
	ObjectStoreRefusesKey = problem("object-store-refuses-key",
		"the object store does not accept the key: check the key and its secret",
		"对象存储不接受该密钥：请检查密钥及其机密")
	NoKeyForObjectStore = problem("no-key-for-object-store",
		"there is no key for the object store that can be used: set the variables of its client, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
		"没有可用的对象存储密钥：请设置其客户端的环境变量，例如 AWS_ACCESS_KEY_ID 和 AWS_SECRET_ACCESS_KEY")
	ObjectStoreKeyExpired = problem("object-store-key-expired",
		"the key of the object store has expired: get another one",
		"对象存储的密钥已过期：请换一个")
	BucketInAnotherRegion = problem("bucket-in-another-region",
		"the bucket is in another region: set region in objects, and endpoint to the address of that region",
		"存储桶在另一个区域：请在 objects 中设置 region，并把 endpoint 设为该区域的地址")
	ObjectStoreClockDiffers = problem("object-store-clock-differs",
		"the clock of this machine and that of the object store differ too much: set this machine's clock",
		"本机时钟与对象存储的时钟相差太大：请校准本机时钟")
	EndpointIsNoObjectStore = problem("endpoint-is-no-object-store",
		"what responds at the endpoint is not an object store of this kind: check endpoint in objects",
		"在该地址响应的不是这种对象存储：请检查 objects 中的 endpoint")
	ObjectStoreCertificateDoesNotFit = problem("object-store-certificate-does-not-fit",
		"the certificate of the object store does not fit its name, or nobody here trusts it: check endpoint in objects, or SSL_CERT_FILE",
		"对象存储的证书与其名称不符，或本机不信任它：请检查 objects 中的 endpoint，或 SSL_CERT_FILE")
	ObjectStoreSpeaksNoTLS = problem("object-store-speaks-no-tls",
		"the endpoint of the object store does not speak TLS: check whether it is http:// or https:// in objects",
		"对象存储的地址不使用 TLS：请检查 objects 中应为 http:// 还是 https://")
	ObjectStoreOverloaded = problem("object-store-overloaded",
		"the object store is overloaded or out of order for now; try again later",
		"对象存储目前过载或发生故障，请稍后再试")
	ObjectStoreFull = problem("object-store-full",
		"the object store has no room left",
		"对象存储没有剩余空间")
	ObjectStoreUnreachable = problem("object-store-unreachable",
		"the object store cannot be reached: try again, or check endpoint in objects",
		"无法连接对象存储：请重试，或检查 objects 中的 endpoint")
	ObjectStoreKeyMayNotWrite = problem("object-store-key-may-not-write",
		"the key of the object store may not write to the bucket (s3:PutObject)",
		"对象存储的密钥无权写入存储桶（s3:PutObject）")
	ObjectStoreKeyMayNotRead = problem("object-store-key-may-not-read",
		"the key of the object store may not read from the bucket (s3:GetObject, and s3:ListBucket for what is missing)",
		"对象存储的密钥无权读取存储桶（s3:GetObject；对不存在的对象还需要 s3:ListBucket）")
	ObjectStoreKeyMayNotList = problem("object-store-key-may-not-list",
		"the key of the object store may not list the bucket (s3:ListBucket)",
		"对象存储的密钥无权列出存储桶的内容（s3:ListBucket）")
	ObjectStoreKeyMayNotDelete = problem("object-store-key-may-not-delete",
		"the key of the object store may not delete from the bucket (s3:DeleteObject)",
		"对象存储的密钥无权从存储桶中删除（s3:DeleteObject）")
	ObjectStoreKeyMayNotDoThis = problem("object-store-key-may-not-do-this",
		"the key of the object store may not do this with the bucket",
		"对象存储的密钥无权对存储桶进行此操作")
	ObjectsFailed = problem("objects-failed",
		"objects: %w",
		"附件存储：%w")
	NoClientForObjectStore = problem("no-client-for-object-store",
		"this program has no client for %s:// object stores: open it with cloud.Open, or use file:///FOLDER",
		"本程序没有 %s:// 对象存储的客户端：请用 cloud.Open 打开，或使用 file:///FOLDER")
	ObjectsIsURL = problem("objects-is-url",
		"objects is s3://BUCKET[/PREFIX][?region=…&endpoint=…], gs://BUCKET, azblob://CONTAINER, file:///FOLDER or memory:",
		"objects 应为 s3://BUCKET[/PREFIX][?region=…&endpoint=…]、gs://BUCKET、azblob://CONTAINER、file:///FOLDER 或 memory:")
)

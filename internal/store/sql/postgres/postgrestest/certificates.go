package postgrestest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// accessFile is the access file of a cluster with TLS: over TCP nobody comes without it.
const accessFile = `local all all trust
local replication all trust
hostssl all all 127.0.0.1/32 scram-sha-256
`

// writeCertificates writes an authority, a certificate of localhost, and the access file.
func writeCertificates(folder string) error {
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "scrollback's tests"},
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	server := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	top, err := x509.CreateCertificate(rand.Reader, ca, ca, &signer.PublicKey, signer)
	if err != nil {
		return err
	}
	leaf, err := x509.CreateCertificate(rand.Reader, server, ca, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{"ca.crt": {Type: "CERTIFICATE", Bytes: top},
		"server.crt": {Type: "CERTIFICATE", Bytes: leaf}, "server.key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "hba.conf"), []byte(accessFile), 0o600)
}

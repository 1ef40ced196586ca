/** `node:crypto`: random values and WebCrypto of the platform; hashes and ciphers of the packages of noble. */
import { Cipheriv, createCipheriv, createDecipheriv, Decipheriv, getCipherInfo, getCiphers } from "./crypto/ciphers.ts"
import { hkdf, hkdfSync, pbkdf2, pbkdf2Sync, scrypt, scryptSync } from "./crypto/derivation.ts"
import { createHash, createHmac, getHashes, Hash, Hmac, hash } from "./crypto/hashes.ts"
import { KeyObject } from "./crypto/KeyObject.ts"
import {
  pseudoRandomBytes,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
  randomUUIDv7,
  timingSafeEqual
} from "./crypto/random.ts"
import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  createSign,
  createVerify,
  generateKey,
  generateKeyPair,
  generateKeyPairSync,
  generateKeySync,
  privateDecrypt,
  publicEncrypt,
  Sign,
  sign,
  Verify,
  verify
} from "./crypto/signing.ts"
import { refuse } from "./refuse.ts"

const webcrypto = globalThis.crypto
const { subtle } = webcrypto
const getRandomValues: typeof webcrypto.getRandomValues = (target) => webcrypto.getRandomValues(target)

const constants = {
  RSA_PKCS1_PADDING: 1,
  RSA_NO_PADDING: 3,
  RSA_PKCS1_OAEP_PADDING: 4,
  RSA_PKCS1_PSS_PADDING: 6,
  RSA_PSS_SALTLEN_DIGEST: -1,
  RSA_PSS_SALTLEN_MAX_SIGN: -2,
  RSA_PSS_SALTLEN_AUTO: -2,
  defaultCipherList: "",
  SSL_OP_NO_SSLv2: 0,
  SSL_OP_NO_SSLv3: 0,
  SSL_OP_NO_TLSv1: 0,
  SSL_OP_NO_TLSv1_1: 0
}

const getFips = (): number => 0
const secureHeapUsed = () => ({ total: 0, used: 0, utilization: 0, min: 0 })

export {
  Cipheriv,
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  createSign,
  createVerify,
  Decipheriv,
  generateKey,
  generateKeyPair,
  generateKeyPairSync,
  generateKeySync,
  getCipherInfo,
  getCiphers,
  getFips,
  getHashes,
  getRandomValues,
  Hash,
  Hmac,
  hash,
  hkdf,
  hkdfSync,
  KeyObject,
  pbkdf2,
  pbkdf2Sync,
  privateDecrypt,
  pseudoRandomBytes,
  publicEncrypt,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
  randomUUIDv7,
  Sign,
  scrypt,
  scryptSync,
  secureHeapUsed,
  sign,
  subtle,
  timingSafeEqual,
  Verify,
  verify,
  webcrypto
}

export const Certificate = refuse("crypto.Certificate")
export const DiffieHellman = refuse("crypto.DiffieHellman")
export const DiffieHellmanGroup = refuse("crypto.DiffieHellmanGroup")
export const ECDH = refuse("crypto.ECDH")
export const X509Certificate = refuse("crypto.X509Certificate")
export const argon2 = refuse("crypto.argon2")
export const argon2Sync = refuse("crypto.argon2Sync")
export const checkPrime = refuse("crypto.checkPrime")
export const checkPrimeSync = refuse("crypto.checkPrimeSync")
export const createDiffieHellman = refuse("crypto.createDiffieHellman")
export const createDiffieHellmanGroup = refuse("crypto.createDiffieHellmanGroup")
export const createECDH = refuse("crypto.createECDH")
export const decapsulate = refuse("crypto.decapsulate")
export const diffieHellman = refuse("crypto.diffieHellman")
export const encapsulate = refuse("crypto.encapsulate")
export const generatePrime = refuse("crypto.generatePrime")
export const generatePrimeSync = refuse("crypto.generatePrimeSync")
export const getCurves = (): ReadonlyArray<string> => ["prime256v1", "secp256k1", "secp384r1", "secp521r1"]
export const getDiffieHellman = refuse("crypto.getDiffieHellman")
export const privateEncrypt = refuse("crypto.privateEncrypt")
export const publicDecrypt = refuse("crypto.publicDecrypt")
export const setEngine = refuse("crypto.setEngine")
export const setFips = refuse("crypto.setFips")

import * as all from "./crypto.ts"
export default /* @__PURE__ */ Object.assign({}, all)

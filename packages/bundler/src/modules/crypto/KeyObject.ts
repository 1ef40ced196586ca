/** Keys of `node:crypto`: secrets, RSA, the curves of NIST, secp256k1 and Ed25519. */
import { Buffer } from "node:buffer"
import { ed25519 } from "@noble/curves/ed25519.js"
import { p256, p384, p521 } from "@noble/curves/nist.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { writeKey } from "./keyFormats.ts"
import type { RsaPrivate, RsaPublic } from "./rsa.ts"

export const curves = {
  prime256v1: { curve: p256, oid: "2a8648ce3d030107", jwk: "P-256" },
  secp384r1: { curve: p384, oid: "2b81040022", jwk: "P-384" },
  secp521r1: { curve: p521, oid: "2b81040023", jwk: "P-521" },
  secp256k1: { curve: secp256k1, oid: "2b8104000a", jwk: "secp256k1" }
} as const

export type CurveName = keyof typeof curves

export type Material =
  | { readonly kind: "secret"; readonly bytes: Uint8Array }
  | { readonly kind: "rsa"; readonly public: RsaPublic; readonly private?: RsaPrivate }
  | { readonly kind: "ec"; readonly curve: CurveName; readonly public: Uint8Array; readonly private?: Uint8Array }
  | { readonly kind: "ed25519"; readonly public: Uint8Array; readonly private?: Uint8Array }

export interface ExportOptions {
  readonly format?: "pem" | "der" | "jwk" | "buffer"
  readonly type?: string
}

export class KeyObject {
  readonly type: "secret" | "public" | "private"
  readonly #material: Material

  constructor(type: "secret" | "public" | "private", material: Material) {
    this.type = type
    this.#material = material
  }

  static materialOf(key: KeyObject): Material {
    return key.#material
  }

  static from(): never {
    throw new Error("KeyObject.from is not available in functions: use crypto.subtle.exportKey")
  }

  get asymmetricKeyType(): string | undefined {
    const { kind } = this.#material
    return kind === "secret" ? undefined : kind
  }

  get asymmetricKeyDetails(): object | undefined {
    const material = this.#material
    if (material.kind === "rsa") {
      return { modulusLength: material.public.n.toString(2).length, publicExponent: material.public.e }
    }
    return material.kind === "ec" ? { namedCurve: material.curve } : undefined
  }

  get symmetricKeySize(): number | undefined {
    return this.#material.kind === "secret" ? this.#material.bytes.length : undefined
  }

  export(options: ExportOptions = {}): unknown {
    if (this.#material.kind === "secret") {
      const bytes = Buffer.from(this.#material.bytes)
      return options.format === "jwk" ? { kty: "oct", k: bytes.toString("base64url") } : bytes
    }
    return writeKey(this.type === "private", this.#material, options)
  }

  equals(other: KeyObject): boolean {
    const write = (key: KeyObject): string => JSON.stringify(key.export({ format: "jwk" }))
    return this.type === other.type && write(this) === write(other)
  }
}

/** Returns the public key of a private scalar. */
export const derivePublic = (curve: CurveName | "ed25519", secret: Uint8Array): Uint8Array =>
  curve === "ed25519" ? ed25519.getPublicKey(secret) : curves[curve].curve.getPublicKey(secret, false)

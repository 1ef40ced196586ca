/** Random bytes from a ChaCha20 generator, seeded once with the host's entropy. */
import { rngChacha20 } from "@noble/ciphers/chacha.js"
import { host } from "../host.ts"

const generator = rngChacha20(host().entropy)

export const randomBytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(generator.randomBytes(length))

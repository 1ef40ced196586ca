/**
 * `SecureRandom` from the platform's generator, drawn in blocks.
 *
 * Every run and event takes several ids of few bytes each, and a call of the generator costs as much for one byte
 * as for thousands. Each byte of a block is given out once.
 */
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"

const blockBytes = 16_384

export const layer: Layer.Layer<SecureRandom.SecureRandom> = Layer.sync(SecureRandom.SecureRandom, () => {
  let block: Uint8Array = new Uint8Array(0)
  let used = 0

  return SecureRandom.make((size) => {
    if (size > blockBytes) return SecureRandom.randomBytesUnsafe(size)
    if (used + size > block.length) {
      block = SecureRandom.randomBytesUnsafe(blockBytes)
      used = 0
    }
    used += size
    return block.slice(used - size, used)
  })
})

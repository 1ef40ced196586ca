/** Random mutations of bytes without knowledge of their format. */
import type { Draws } from "../draws/Draws.ts"

type Mutation = (input: Buffer, draws: Draws, others: Others) => Buffer

export interface Others {
  readonly words: ReadonlyArray<Uint8Array>
  /** Other inputs, from which pieces are copied. */
  readonly inputs: ReadonlyArray<Uint8Array>
}

const stackMax = 5
const pieceMax = 64
/** Boundary values of sizes and counts. */
const edges = [
  0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff
]
const letters = " \t\r\n\u0000\"'\\/.,:;=*-+()[]{}<>%&?#@~_09aZ\u00ff"

export const mutated = (input: Uint8Array, draws: Draws, others: Others): Buffer => {
  let bytes: Buffer = Buffer.from(input)
  for (let left = draws.whole(1, stackMax); left > 0; left--) bytes = draws.one(mutations)(bytes, draws, others)
  return bytes
}

const pieceOf = (input: Uint8Array, draws: Draws): Buffer => {
  const from = draws.whole(0, Math.max(0, input.length - 1))
  return Buffer.from(input.subarray(from, from + draws.whole(1, pieceMax)))
}

const inserted = (input: Buffer, at: number, piece: Uint8Array): Buffer =>
  Buffer.concat([input.subarray(0, at), piece, input.subarray(at)])

const place = (input: Buffer, draws: Draws): number => draws.whole(0, input.length)

/** Overwrites a little-endian integer of `bytes` bytes at a random offset. */
const written = (input: Buffer, draws: Draws, bytes: 1 | 2 | 4, value: (before: number) => number): Buffer => {
  if (input.length < bytes) return input
  const at = draws.whole(0, input.length - bytes)
  const changed = Buffer.from(input)
  const modulus = 2 ** (8 * bytes)
  changed.writeUIntLE((((value(changed.readUIntLE(at, bytes)) % modulus) + modulus) % modulus) >>> 0, at, bytes)
  return changed
}

const mutations: ReadonlyArray<Mutation> = [
  // Flips a bit.
  (input, draws) => written(input, draws, 1, (before) => before ^ (1 << draws.whole(0, 7))),
  // Overwrites a byte with a character that is syntax in many formats.
  (input, draws) => written(input, draws, 1, () => letters.charCodeAt(draws.whole(0, letters.length - 1))),
  // Overwrites or changes a number that may be a length.
  (input, draws) => written(input, draws, draws.one([2, 4]), () => draws.one(edges)),
  (input, draws) => written(input, draws, draws.one([1, 2, 4]), (before) => before + draws.whole(-3, 3)),
  (input, draws) =>
    written(input, draws, draws.one([2, 4]), () => draws.one([input.length, input.length - 1, input.length + 1])),
  // Removes the end or a piece.
  (input, draws) => input.subarray(0, place(input, draws)),
  (input, draws) => {
    const from = place(input, draws)
    return Buffer.concat([input.subarray(0, from), input.subarray(from + draws.whole(1, pieceMax))])
  },
  // Repeats a piece once or many times, or moves it.
  (input, draws) => inserted(input, place(input, draws), pieceOf(input, draws)),
  (input, draws) => {
    const piece = pieceOf(input, draws).subarray(0, 16)
    return inserted(input, place(input, draws), Buffer.concat(draws.some(() => piece, 100, 2)))
  },
  (input, draws) => {
    const [a, b] = [place(input, draws), place(input, draws)].sort((x, y) => x - y)
    return Buffer.concat([input.subarray(b), input.subarray(a, b), input.subarray(0, a)])
  },
  // Inserts a piece of another input, a word, a character, or random bytes.
  (input, draws, { inputs }) =>
    inputs.length === 0 ? input : inserted(input, place(input, draws), pieceOf(draws.one(inputs), draws)),
  (input, draws, { inputs }) => {
    if (inputs.length === 0) return input
    const other = draws.one(inputs)
    return Buffer.concat([input.subarray(0, place(input, draws)), other.subarray(draws.whole(0, other.length))])
  },
  (input, draws, { words }) => (words.length === 0 ? input : inserted(input, place(input, draws), draws.one(words))),
  (input, draws, { words }) => {
    if (words.length === 0) return input
    const at = place(input, draws)
    return Buffer.concat([input.subarray(0, at), draws.one(words), input.subarray(at + draws.whole(0, 8))])
  },
  (input, draws) => inserted(input, place(input, draws), Buffer.from(draws.one([...letters]))),
  (input, draws) => inserted(input, place(input, draws), draws.bytes(draws.whole(1, 8)))
]

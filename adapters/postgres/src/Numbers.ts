/** Codecs of 64-bit integers and their sums as numbers. No value of Weft needs more than 53 bits. */
import { type PgProtocol, PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

const bytesOfInteger = 8

const encode = (value: number | bigint): Result.Result<Uint8Array> => {
  const bytes = new Uint8Array(bytesOfInteger)
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value))
  return Result.succeed(bytes)
}

/** Writes into the message buffer, without a copy, for the many values of a batch. */
const write = (sink: PgProtocol.ValueSink, value: number | bigint): Result.Result<void> => {
  if (typeof value === "bigint") {
    sink.bigInt64(value)
  } else {
    sink.int32(Math.floor(value / 2 ** 32))
    sink.int32(value % 2 ** 32)
  }
  return done
}

const done = Result.succeed<void>(undefined)

const read = (bytes: Uint8Array, offset: number): Result.Result<number> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, bytesOfInteger)
  return Result.succeed(view.getInt32(0) * 2 ** 32 + view.getUint32(4))
}

export const numbers: PgTypes.Registry = PgTypes.makeRegistry()
numbers.register<number | bigint>(
  PgTypes.OID.int8,
  { encode, write, decode: (bytes) => read(bytes, 0), read },
  { arrayOid: PgTypes.OID.int8Array }
)
numbers.register<number>(PgTypes.OID.numeric, {
  encode: (value) => PgTypes.encode(String(value), PgTypes.OID.numeric),
  decode: (bytes) => Result.map(PgTypes.decode(bytes, PgTypes.OID.numeric, 1), Number)
})

/** Returns an array parameter with an explicit element type, which an empty array, or one of nulls, does not show. */
export const toArrayParameter = (values: ReadonlyArray<unknown>, element: number): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, element, numbers))

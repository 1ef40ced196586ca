import { connect } from "node:net"
import { createServer, getCACertificates, type Server, setDefaultCACertificates } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type S3Server, s3Server, selfSigned } from "@weft/tooling/services"
import { Effect } from "effect"
import { checkMebibytes, inBucket, MiB, mebibytes, newBucket } from "./TestBucket.ts"

let server: S3Server
let secure: Server
const { cert, key } = selfSigned()
const trusted = getCACertificates()

/** Terminates TLS in front of the server, as a proxy does. */
beforeAll(async () => {
  server = await s3Server()
  secure = createServer({ cert, key }, (socket) => {
    const far = connect(server.port, server.endPoint)
    socket.pipe(far).pipe(socket)
    socket.on("error", () => far.destroy())
    far.on("error", () => socket.destroy())
  })
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", () => resolve()))
}, 180_000)
afterAll(async () => {
  setDefaultCACertificates(trusted)
  await new Promise((resolve) => secure.close(resolve))
  await server.remove()
})

const options = () => {
  const address = secure.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { ...newBucket(server, { endPoint: "127.0.0.1", port }), tls: true }
}

describe("S3 over TLS", () => {
  it.live("is rejected without a trusted certificate", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(inBucket(options(), () => Effect.void))
      assert.include(String(error), "DEPTH_ZERO_SELF_SIGNED_CERT")
    })
  )

  it.live("stores and returns small blobs, large ones and parts", () => {
    setDefaultCACertificates([...trusted, cert])
    return inBucket(
      options(),
      Effect.fnUntraced(function* (store) {
        yield* store.put("a", new Uint8Array([1, 2, 3]))
        assert.deepStrictEqual([...(yield* store.get("a"))], [1, 2, 3])
        yield* store.write("b", mebibytes(18))
        const parts = yield* store.beginParts("c")
        const one = yield* store.writePart("c", parts, 1, mebibytes(17))
        const two = yield* store.writePart("c", parts, 2, mebibytes(1, 17))
        yield* store.joinParts("c", parts, [
          { number: 1, ...one },
          { number: 2, ...two }
        ])
        for (const key of ["b", "c"]) {
          const read = Effect.scoped(Effect.flatMap(store.read(key), (bytes) => checkMebibytes(bytes)))
          assert.strictEqual(yield* read, 18 * MiB)
        }
      })
    )
  })
})

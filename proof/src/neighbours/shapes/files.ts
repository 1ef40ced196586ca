/** Files: aborted uploads, small parts and ranges. */
import type { Attack } from "../Attack.ts"
import type { Shape } from "../Shape.ts"
import { head } from "./Connections.ts"

const tenant = { attacker: "tenant", room: "files" } as const
const MiB = 1024 * 1024

const uploadFile = async (attack: Attack, bytes: number): Promise<string> => {
  const { file_id } = await attack.require({
    method: "PUT",
    path: "/v1/files/upload/large",
    body: Buffer.alloc(bytes, "x")
  })
  return String(file_id)
}

const startUpload = async (attack: Attack): Promise<string> => {
  const { upload_id } = await attack.require({ path: "/v1/files/uploads", body: { path: "parts" } })
  return String(upload_id)
}

export const fileShapes: ReadonlyArray<Shape> = [
  {
    ...tenant,
    name: "aborted-uploads",
    sends: "64 clients begin an upload of 100 MB and reset the connection after 1 MiB",
    sees: ["closed", "open", 429],
    attack: (attack) => {
      const part = Buffer.alloc(MiB, "x")
      return attack.clients(64, async (client) => {
        const line = `PUT /v1/files/upload/aborted/${client}`
        const socket = attack.open(
          head(attack, line, [`authorization: Bearer ${attack.key()}`, "content-length: 100000000"])
        )
        await new Promise<void>((resolve) => socket.write(part, () => resolve()))
        await attack.pause(5)
        socket.resetAndDestroy()
        await attack.closed(socket)
      })
    }
  },
  {
    ...tenant,
    name: "stalled-uploads",
    sends: "500 clients begin an upload and then send nothing",
    sees: ["open", "closed", 400, 429, 503],
    attack: async (attack) => {
      for (let client = 0; client < 500; client++) {
        attack.open(
          head(attack, `PUT /v1/files/upload/stalled/${client}`, [
            `authorization: Bearer ${attack.key()}`,
            "content-length: 100000000"
          ]) + "x".repeat(1_000)
        )
      }
      await attack.wait()
    }
  },
  {
    ...tenant,
    name: "small-parts",
    sends: "32 clients put parts of 1 KB into one multipart upload",
    sees: [200, 400, 429, "pending"],
    prepare: startUpload,
    attack: (attack, upload) =>
      attack.clients(32, (client, turn) =>
        attack.send({
          method: "PUT",
          path: `/v1/files/uploads/${upload}/${1 + ((client * 313 + turn) % 10_000)}`,
          as: 1,
          body: "x".repeat(1_000)
        })
      )
  },
  {
    ...tenant,
    name: "started-uploads",
    sends: "32 clients start multipart uploads and never complete them",
    sees: [201, 400, 429, "pending"],
    attack: (attack) =>
      attack.clients(32, (client, turn) =>
        attack.send({ path: "/v1/files/uploads", as: 1, body: { path: `started/${client}/${turn}` } })
      )
  },
  {
    ...tenant,
    name: "small-files",
    sends: "32 clients upload files of 1 KB",
    sees: [200, 201, 429, "pending"],
    attack: (attack) =>
      attack.clients(32, (client, turn) =>
        attack.send({ method: "PUT", path: `/v1/files/upload/small/${client}/${turn}`, as: 1, body: "x".repeat(1_000) })
      )
  },
  {
    ...tenant,
    name: "replaced-file",
    sends: "32 clients replace the same file of 100 KB",
    sees: [200, 201, 429, "pending"],
    attack: (attack) =>
      attack.clients(32, () =>
        attack.send({ method: "PUT", path: "/v1/files/upload/same", as: 1, body: Buffer.alloc(100_000, "x") })
      )
  },
  {
    ...tenant,
    name: "range-storm",
    sends: "64 clients request ranges of 1 byte of a file of 64 MiB",
    sees: [206, 429, "pending"],
    prepare: (attack) => uploadFile(attack, 64 * MiB),
    attack: (attack, file) =>
      attack.clients(64, (client, turn) => {
        const at = (client * 7_919 + turn * 104_729) % (64 * MiB)
        return attack.send({ path: `/v1/files/${file}/download`, as: 1, headers: { range: `bytes=${at}-${at}` } })
      })
  },
  {
    ...tenant,
    name: "many-ranges",
    sends: "32 clients request 1,000 ranges at once",
    sees: [200, 206, 400, 416, 429, "pending"],
    prepare: (attack) => uploadFile(attack, MiB),
    attack: (attack, file) => {
      const range = `bytes=${Array.from({ length: 1_000 }, (_, n) => `${n * 10}-${n * 10}`).join(",")}`
      return attack.clients(32, () => attack.send({ path: `/v1/files/${file}/download`, as: 1, headers: { range } }))
    }
  },
  {
    ...tenant,
    name: "unread-downloads",
    sends: "100 connections download a file of 64 MiB and read nothing",
    sees: ["open", "closed"],
    prepare: (attack) => uploadFile(attack, 64 * MiB),
    attack: async (attack, file) => {
      const request = head(attack, `GET /v1/files/${file}/download`, [`authorization: Bearer ${attack.key()}`])
      for (let n = 0; n < 100; n++) attack.open(request, { reads: false })
      await attack.wait()
    }
  },
  {
    ...tenant,
    name: "whole-downloads",
    sends: "8 clients download a file of 64 MiB again and again",
    sees: [200, 429, "pending"],
    prepare: (attack) => uploadFile(attack, 64 * MiB),
    attack: (attack, file) => attack.clients(8, () => attack.send({ path: `/v1/files/${file}/download`, as: 1 }))
  }
]

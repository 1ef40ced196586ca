/** Messages from the supervisor to a runner. The supervisor chooses the ids `isolate` and `run`; they are never 0. */
import type { RequestBody } from "@weft/core/adapter"
import { type OptionalScript, optionalScripts } from "./OptionalNames.ts"
import { type Cursor, type FrameWriter, ProtocolError } from "./Wire.ts"

export const triggers = ["event", "request", "tick", "args", "tool", "resource", "prompt"] as const
export type Trigger = (typeof triggers)[number]

/** Kinds of request bodies. The kernel uses the same indexes. */
export const bodyKinds = ["none", "json", "text", "given", "form"] as const

/** Reasons for which a run is stopped. */
const stopReasons = ["cancelled", "timeout"] as const
export type StopReason = (typeof stopReasons)[number]

export type ToRunner =
  /** The first message, sent once. `limits` is `RunnerLimits` as JSON text; `cache` is empty if it does not exist yet. */
  | {
      readonly kind: "boot"
      readonly limits: string
      readonly guest: string
      /** The scripts for bundles that mention one of their APIs. */
      readonly optional: Readonly<Record<OptionalScript, string>>
      readonly cache: Uint8Array<ArrayBuffer>
    }
  /** Creates an isolate and loads a bundle. With `describe`, the reply contains its exports and a code cache. */
  | {
      readonly kind: "load"
      readonly isolate: number
      /** The same number for all isolates of an environment, with which they take turns. */
      readonly owner: number
      readonly describe: boolean
      readonly script: string
      readonly cache: Uint8Array<ArrayBuffer>
    }
  | {
      readonly kind: "invoke"
      readonly isolate: number
      readonly run: number
      readonly trigger: Trigger
      /** `ns/var`. */
      readonly fn: string
      readonly svc: string
      readonly body: RequestBody | null
    }
  /** Result of the host call `call`. If `ok` is false, `text` is the error's name and `detail` its message. */
  | {
      readonly kind: "hostCallResult"
      readonly isolate: number
      readonly run: number
      readonly call: number
      readonly ok: boolean
      readonly text: string
      readonly detail: string
    }
  | { readonly kind: "stop"; readonly isolate: number; readonly run: number; readonly reason: StopReason }
  | { readonly kind: "dispose"; readonly isolate: number }
  /** Requests the age of a run; the reply is `runAge`. */
  | { readonly kind: "reportAge"; readonly isolate: number; readonly run: number }

const kinds = { boot: 1, load: 2, invoke: 3, hostCallResult: 4, stop: 5, dispose: 6, reportAge: 7 } as const

export const writeToRunner = (writer: FrameWriter, message: ToRunner): void => {
  writer.begin(kinds[message.kind])
  switch (message.kind) {
    case "boot":
      writer.text(message.limits)
      writer.text(message.guest)
      for (const name of optionalScripts) writer.text(message.optional[name])
      writer.bytes(message.cache)
      break
    case "load":
      writer.u32(message.isolate)
      writer.u32(message.owner)
      writer.u8(message.describe ? 1 : 0)
      writer.text(message.script)
      writer.bytes(message.cache)
      break
    case "invoke":
      writer.u32(message.isolate)
      writer.u32(message.run)
      writer.u8(triggers.indexOf(message.trigger))
      writer.text(message.fn)
      writer.text(message.svc)
      writer.u8(message.body === null ? 0 : bodyKinds.indexOf(message.body.as))
      if (message.body !== null) writer.text(message.body.text)
      break
    case "hostCallResult":
      writer.u32(message.isolate)
      writer.u32(message.run)
      writer.u32(message.call)
      writer.u8(message.ok ? 1 : 0)
      writer.text(message.text)
      writer.text(message.detail)
      break
    case "stop":
      writer.u32(message.isolate)
      writer.u32(message.run)
      writer.u8(stopReasons.indexOf(message.reason))
      break
    case "dispose":
      writer.u32(message.isolate)
      break
    case "reportAge":
      writer.u32(message.isolate)
      writer.u32(message.run)
      break
  }
  writer.end()
}

export const readToRunner = (cursor: Cursor): ToRunner => {
  const message = read(cursor)
  cursor.end()
  return message
}

const read = (cursor: Cursor): ToRunner => {
  switch (cursor.kind) {
    case kinds.boot:
      return {
        kind: "boot",
        limits: cursor.text(),
        guest: cursor.text(),
        optional: { optional: cursor.text(), encodings: cursor.text() },
        cache: cursor.bytes()
      }
    case kinds.load:
      return {
        kind: "load",
        isolate: cursor.u32(),
        owner: cursor.u32(),
        describe: cursor.u8() === 1,
        script: cursor.text(),
        cache: cursor.bytes()
      }
    case kinds.invoke:
      return {
        kind: "invoke",
        isolate: cursor.u32(),
        run: cursor.u32(),
        trigger: member(triggers, cursor.u8()),
        fn: cursor.text(),
        svc: cursor.text(),
        body: readBody(cursor)
      }
    case kinds.hostCallResult:
      return {
        kind: "hostCallResult",
        isolate: cursor.u32(),
        run: cursor.u32(),
        call: cursor.u32(),
        ok: cursor.u8() === 1,
        text: cursor.text(),
        detail: cursor.text()
      }
    case kinds.stop:
      return { kind: "stop", isolate: cursor.u32(), run: cursor.u32(), reason: member(stopReasons, cursor.u8()) }
    case kinds.dispose:
      return { kind: "dispose", isolate: cursor.u32() }
    case kinds.reportAge:
      return { kind: "reportAge", isolate: cursor.u32(), run: cursor.u32() }
    default:
      throw new ProtocolError(`a frame of unknown kind ${cursor.kind}`)
  }
}

const readBody = (cursor: Cursor): RequestBody | null => {
  const as = member(bodyKinds, cursor.u8())
  return as === "none" ? null : { as, text: cursor.text() }
}

/** Returns the member of a closed list at `index`. Throws `ProtocolError` if the index is out of range. */
export const member = <A>(list: ReadonlyArray<A>, index: number): A => {
  const found = list[index]
  if (found === undefined) throw new ProtocolError(`an index ${index} into a list of ${list.length}`)
  return found
}

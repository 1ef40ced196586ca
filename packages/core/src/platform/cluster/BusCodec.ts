/**
 * The JSON encoding of messages between nodes.
 *
 * Records of the bus are their own encoding, so encoding is `JSON.stringify`. Decoding checks every message by its
 * schema and ignores unknown messages and fields, because newer nodes may send more (rolling upgrades).
 */
import { Option, Schema } from "effect"
import { ActivityEvent } from "./ActivityEvent.ts"
import { ControlMessage } from "./ControlMessage.ts"

/** A batch of messages from one node. */
export interface BusContent {
  readonly control: ReadonlyArray<ControlMessage>
  readonly activity: ReadonlyArray<ActivityEvent>
  /** True if the node wants activity from now on, false if not; null if unchanged. */
  readonly wantsActivity: boolean | null
  /** True if the node asks all others whether they want activity. */
  readonly queriesInterest: boolean
  /** For a node that began to want activity: the time since which activity was not sent, in epoch milliseconds, or null. */
  readonly silentSince: number | null
}

/** A `BusContent` whose control messages are already encoded. */
export interface BusContentDraft extends Omit<BusContent, "control"> {
  readonly control: Iterable<string>
}

export const encodeControl = (message: ControlMessage): string => JSON.stringify(message)

export const encodeContent = (content: BusContentDraft): string => {
  const { activity, wantsActivity, queriesInterest, silentSince } = content
  const control = [...content.control].join(",")
  const fields = [
    ...(control === "" ? [] : [`"news":[${control}]`]),
    ...(activity.length === 0 ? [] : [`"activity":${JSON.stringify(activity)}`]),
    ...(wantsActivity === null ? [] : [`"watching":${wantsActivity}`]),
    ...(queriesInterest ? [`"asks":true`] : []),
    ...(silentSince === null ? [] : [`"silentSince":${silentSince}`])
  ]
  return `{${fields.join(",")}}`
}

const Content = Schema.fromJsonString(
  Schema.Struct({
    news: Schema.optionalKey(Schema.Array(Schema.Unknown)),
    activity: Schema.optionalKey(Schema.Array(Schema.Unknown)),
    watching: Schema.optionalKey(Schema.Boolean),
    asks: Schema.optionalKey(Schema.Boolean),
    silentSince: Schema.optionalKey(Schema.Finite)
  })
)
const decodeFields = Schema.decodeUnknownOption(Content)
const decodeControl = Schema.decodeUnknownOption(ControlMessage)
const decodeActivity = Schema.decodeUnknownOption(ActivityEvent)

/** Decodes a batch, or returns null if the text is not one. */
export const decodeContent = (text: string): BusContent | null => {
  const fields = Option.getOrNull(decodeFields(text))
  if (fields === null) return null
  return {
    control: decodeKnown(fields.news ?? [], decodeControl),
    activity: decodeKnown(fields.activity ?? [], decodeActivity),
    wantsActivity: fields.watching ?? null,
    queriesInterest: fields.asks ?? false,
    silentSince: fields.silentSince ?? null
  }
}

const decodeKnown = <A>(messages: ReadonlyArray<unknown>, decode: (message: unknown) => Option.Option<A>): Array<A> => {
  const found: Array<A> = []
  for (const message of messages) {
    const decoded = decode(message)
    if (decoded._tag === "Some") found.push(decoded.value)
  }
  return found
}

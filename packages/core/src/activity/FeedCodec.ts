/**
 * What nodes say to each other, as JSON text.
 *
 * Records of a feed are their own encoding, so that writing is `JSON.stringify` and nothing else. Reading checks every
 * message by its schema; what it does not know is passed over, since newer nodes may say more (rolling upgrades).
 */
import { Option, Schema } from "effect"
import { Activity } from "./Activity.ts"
import { News } from "./News.ts"

/** What a node says at once. */
export interface FeedContent {
  readonly news: ReadonlyArray<News>
  readonly activity: ReadonlyArray<Activity>
  /** Whether it wants to hear activity from now on; null where it says nothing of that. */
  readonly watching: boolean | null
  /** Whether it asks who wants to hear activity. */
  readonly asks: boolean
  /** To one who is new to wanting it: since when activity was told to nobody. Epoch milliseconds; null for nothing. */
  readonly silentSince: number | null
}

/** As `FeedContent`, with each of the news encoded. */
export interface FeedWriting extends Omit<FeedContent, "news"> {
  readonly news: Iterable<string>
}

export const encodeNews = (news: News): string => JSON.stringify(news)

export const encodeContent = ({ news, activity, watching, asks, silentSince }: FeedWriting): string => {
  const told = [...news].join(",")
  const fields = [
    ...(told === "" ? [] : [`"news":[${told}]`]),
    ...(activity.length === 0 ? [] : [`"activity":${JSON.stringify(activity)}`]),
    ...(watching === null ? [] : [`"watching":${watching}`]),
    ...(asks ? [`"asks":true`] : []),
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
const decodeNews = Schema.decodeUnknownOption(News)
const decodeActivity = Schema.decodeUnknownOption(Activity)

/** Null for text that is no content at all. */
export const decodeContent = (text: string): FeedContent | null => {
  const fields = Option.getOrNull(decodeFields(text))
  if (fields === null) return null
  return {
    news: known(fields.news ?? [], decodeNews),
    activity: known(fields.activity ?? [], decodeActivity),
    watching: fields.watching ?? null,
    asks: fields.asks ?? false,
    silentSince: fields.silentSince ?? null
  }
}

const known = <A>(messages: ReadonlyArray<unknown>, decode: (message: unknown) => Option.Option<A>): Array<A> => {
  const found: Array<A> = []
  for (const message of messages) {
    const decoded = decode(message)
    if (decoded._tag === "Some") found.push(decoded.value)
  }
  return found
}

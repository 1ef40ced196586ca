/** The config file: servers by name, and which of them is meant when nothing is said. */
import { Schema } from "effect"

export const Profile = Schema.Struct({
  url: Schema.String,
  api_key: Schema.optionalKey(Schema.String),
  admin_token: Schema.optionalKey(Schema.String)
})
export type Profile = typeof Profile.Type

export const ProfileBook = Schema.Struct({
  current: Schema.optionalKey(Schema.String),
  profiles: Schema.Record(Schema.String, Profile)
})
export type ProfileBook = typeof ProfileBook.Type

export const emptyBook: ProfileBook = { profiles: {} }

/** The profile of `weft server` and `weft dev`. */
export const localName = "local"
export const localUrl = "http://127.0.0.1:8787"

/** Undefined where there is none; names of strangers find nothing of an object's own. */
export const profileOf = (book: ProfileBook, name: string): Profile | undefined =>
  Object.hasOwn(book.profiles, name) ? book.profiles[name] : undefined

/** The first profile that is put into an empty book is the current one. */
export const withProfile = (book: ProfileBook, name: string, profile: Profile): ProfileBook => ({
  current: book.current ?? name,
  profiles: { ...book.profiles, [name]: profile }
})

export const withoutProfile = (book: ProfileBook, name: string): ProfileBook => {
  const profiles = Object.fromEntries(Object.entries(book.profiles).filter(([other]) => other !== name))
  const { current, ...rest } = book
  return { ...rest, ...(current === undefined || current === name ? {} : { current }), profiles }
}

/** Contents of the config file: servers by name, and the current one. */
import { Schema } from "effect"

export const Profile = Schema.Struct({
  url: Schema.String,
  api_key: Schema.optionalKey(Schema.String),
  admin_token: Schema.optionalKey(Schema.String)
})
export type Profile = typeof Profile.Type

export const ProfilesConfig = Schema.Struct({
  current: Schema.optionalKey(Schema.String),
  profiles: Schema.Record(Schema.String, Profile)
})
export type ProfilesConfig = typeof ProfilesConfig.Type

export const emptyConfig: ProfilesConfig = { profiles: {} }

/** The profile of `weft server` and `weft dev`. */
export const localName = "local"
export const localUrl = "http://127.0.0.1:8787"

/** Returns a profile, or undefined. Names such as `constructor` do not find inherited properties. */
export const getProfile = (config: ProfilesConfig, name: string): Profile | undefined =>
  Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined

/** Adds or replaces a profile. The first profile becomes the current one. */
export const withProfile = (config: ProfilesConfig, name: string, profile: Profile): ProfilesConfig => ({
  current: config.current ?? name,
  profiles: { ...config.profiles, [name]: profile }
})

export const withoutProfile = (config: ProfilesConfig, name: string): ProfilesConfig => {
  const profiles = Object.fromEntries(Object.entries(config.profiles).filter(([other]) => other !== name))
  const { current, ...rest } = config
  return { ...rest, ...(current === undefined || current === name ? {} : { current }), profiles }
}

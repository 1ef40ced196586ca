/** Flags of every command. */
import { Flag, GlobalFlag } from "effect/cli"
import { switchFlag } from "./input/Switch.ts"

export const Json = GlobalFlag.Setting("json")({
  flag: switchFlag("json", "Print JSON: one document, or one line per item")
})

export const ProfileName = GlobalFlag.Setting("profile")({
  flag: Flag.String("profile").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription("The profile to use, from the config file"),
    Flag.optional
  )
})

export const Url = GlobalFlag.Setting("url")({
  flag: Flag.String("url").pipe(
    Flag.withMetavar("url"),
    Flag.withDescription("The URL of the server, such as https://weft.example.com"),
    Flag.optional
  )
})

export const PreviewName = GlobalFlag.Setting("preview")({
  flag: Flag.String("preview").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription("Act on this preview of the project instead of the environment"),
    Flag.optional
  )
})

export const globalFlags = [Json, ProfileName, Url, PreviewName] as const

/** Checks of a server that only its client can make: the way to it, the versions and the clocks. */
import type { Diagnosis } from "@weft/client"
import { isLoopback } from "../../connection/Target.ts"
import type { Failure } from "../../Failure.ts"
import { isTooOld, nodeMajorMin } from "../../NodeVersion.ts"
import { duration } from "../../output/Times.ts"

export type Check = Diagnosis["checks"][number]

/** Longest response of the server without a warning, in milliseconds. */
const latencyMsMax = 1_000
/** Largest difference of two clocks without a warning, in milliseconds. Nodes tolerate a few seconds. */
const skewMsMax = 2_000

const passed = (name: string, seen: string): Check => ({ name, status: "ok", seen, remedy: null })
const warning = (name: string, seen: string, remedy: string): Check => ({ name, status: "warning", seen, remedy })

/** Converts the failure of a command into a failed check. */
export const toFailedCheck = (name: string, { message, remedy }: Failure): Check => ({
  name,
  status: "failure",
  seen: message,
  remedy
})

/** Checks the version of Node.js that runs this command. */
export const checkNode = (version: string): Check => {
  const seen = `the command line runs on Node.js ${version}`
  return isTooOld(version)
    ? { name: "cli", status: "failure", seen, remedy: `install Node.js ${nodeMajorMin} or later` }
    : passed("cli", seen)
}

export const checkLatency = (url: string, latencyMs: number): Check => {
  const seen = `${url} answered within ${duration(Math.ceil(latencyMs))}`
  return latencyMs <= latencyMsMax
    ? passed("server", seen)
    : warning("server", seen, "check the network and the load of the server")
}

/** Checks that tokens do not cross a network in plain text. */
export const checkTransport = (url: string): Check => {
  const { protocol, hostname } = new URL(url)
  if (protocol === "https:") return passed("transport", "requests are encrypted")
  return isLoopback(hostname)
    ? passed("transport", "requests stay on this machine")
    : warning(
        "transport",
        "tokens and data cross the network in plain text",
        "put a proxy with TLS in front of the server, and use its https URL"
      )
}

export const checkVersions = (server: string, cli: string): Check =>
  server === cli
    ? passed("version", `server and command line are ${server}`)
    : warning("version", `the server is ${server}, the command line ${cli}`, "install the release of the server")

/** `serverTime` and `localTime` are instants of the same moment, in milliseconds since 1970. */
export const checkClocks = (serverTime: number, localTime: number): Check => {
  const skewMs = Math.abs(serverTime - localTime)
  const seen = `the clocks of the server and of this machine differ by ${duration(skewMs)}`
  return skewMs <= skewMsMax ? passed("clock", seen) : warning("clock", seen, "synchronize both clocks with NTP")
}

/** Answers that hold a secret, which nothing between here and the client may keep. */
import { HttpServerResponse } from "effect/http"

const secret: ReadonlySet<string> = new Set([
  "sessions.create",
  "serviceKeys.create",
  "files.link",
  "admin.createApiKey"
])

export const holdsSecret = (group: string, endpoint: string): boolean => secret.has(`${group}.${endpoint}`)

export const unstored = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeader(response, "cache-control", "no-store")

/** Responses in the document: their descriptions, headers and examples. */
import { componentOf, type Examples, isObject, type JsonObject } from "./Example.ts"

const requestIdHeader = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } }
const retryAfterHeader = { "Retry-After": { $ref: "#/components/headers/RetryAfter" } }

export const responseHeaders = {
  RequestId: {
    description: "Equal to request_id in the body",
    required: true,
    schema: { type: "string", format: "uuid" }
  },
  RetryAfter: { description: "Seconds to wait", required: true, schema: { type: "integer", minimum: 1 } }
}

const meanings: Readonly<Record<string, string>> = {
  "200": "Done",
  "201": "Created",
  "204": "Done; there is no body",
  "206": "The requested range",
  "304": "The client's copy is current",
  "307":
    "Redirect to the bytes at Location, which needs no credential and expires; only if the server is configured so",
  "400": "The path, the query or the body is invalid",
  "401": "The credential is missing, invalid, expired or revoked",
  "403": "The credential or the plan does not allow the request",
  "404": "The resource does not exist in the environment of the credential",
  "409": "The name is already registered, the token is completed, a canary is active, or the resource is busy",
  "410": "The token has expired",
  "412": "The precondition of If-Match or If-Unmodified-Since failed",
  "416": "The range is outside the file",
  "429": "A rate or limit is exceeded",
  "500": "Error of the server; with Retry-After if a retry may succeed",
  "503": "Not ready: the store is unavailable, or the node is shutting down"
}

/** Returns the alternative schemas of a body, each with the name of its component. */
const namedAlternatives = (schema: JsonObject): ReadonlyArray<readonly [string, unknown]> =>
  (Array.isArray(schema.anyOf) ? schema.anyOf : []).flatMap((choice) => {
    const name = componentOf(choice)
    return name === null ? [] : [[name, choice] as const]
  })

/** True for content types with an example. Bytes and event streams have none. */
const hasExample = (type: string): boolean => /json|form-data/.test(type)

/** Returns the content of a request or response with examples. */
export const withExamples = (content: unknown, examples: Examples): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(content) ? content : {}).map(([type, media]) => {
      if (!isObject(media) || !isObject(media.schema)) return [type, media]
      // Omits the error schema that the generator adds to streams, because streams contain no errors.
      if (type === "text/event-stream") return [type, { schema: media.schema }]
      if (!hasExample(type)) return [type, media]
      const choices = namedAlternatives(media.schema)
      return [
        type,
        choices.length === 0
          ? { ...media, example: examples.of(media.schema) }
          : {
              ...media,
              examples: Object.fromEntries(choices.map(([name, schema]) => [name, { value: examples.of(schema) }]))
            }
      ]
    })
  )

const withoutRetryAfter = (headers: unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(headers) ? headers : {}).filter(([name]) => name.toLowerCase() !== "retry-after")
  )

export const completeResponse = (status: string, response: JsonObject, examples: Examples): JsonObject => ({
  ...response,
  description: meanings[status] ?? response.description,
  headers: {
    ...withoutRetryAfter(response.headers),
    ...(status === "429" ? retryAfterHeader : {}),
    ...requestIdHeader
  },
  ...(response.content === undefined ? {} : { content: withExamples(response.content, examples) })
})

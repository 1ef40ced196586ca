/** Answers in the document: what they mean, their headers and their examples. */
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
  "206": "The part that was asked for",
  "304": "The client's copy is still good",
  "307": "The bytes are at Location, for a while and without a credential; only where the server is set up so",
  "400": "The path, the query or the body is not valid",
  "401": "The credential is missing, not valid, expired or revoked",
  "403": "The credential or the plan does not allow it",
  "404": "There is no such thing in the environment of the credential",
  "409": "It is taken",
  "412": "It is not as If-Match or If-Unmodified-Since says",
  "416": "The range is outside of the file",
  "429": "Too much at once",
  "500": "The server could not answer; with Retry-After where another try may help",
  "503": "Not now: the store does not answer, or the node is leaving"
}

/** The alternatives of a body, each with the name of its component. */
const namedAlternatives = (schema: JsonObject): ReadonlyArray<readonly [string, unknown]> =>
  (Array.isArray(schema.anyOf) ? schema.anyOf : []).flatMap((choice) => {
    const name = componentOf(choice)
    return name === null ? [] : [[name, choice] as const]
  })

/** Bodies that are bytes or have no end say what they are by their type alone. */
const hasExample = (type: string): boolean => /json|form-data/.test(type)

/** The content of a request or an answer with its examples. */
export const withExamples = (content: unknown, examples: Examples): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(content) ? content : {}).map(([type, media]) => {
      if (!isObject(media) || !isObject(media.schema)) return [type, media]
      // What the generator tells its own clients of failures in the midst of a stream: there are none.
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

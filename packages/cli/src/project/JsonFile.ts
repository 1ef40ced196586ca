/** JSON files that people write, and what is wrong with them. */
import { Effect, Schema, SchemaIssue } from "effect"
import { type Failure, failure } from "../Failure.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Fails with `code`, and names the file and the fields that are wrong, never their values. */
export const parseJson = <A>(
  code: string,
  file: string,
  schema: Schema.Codec<A, unknown>,
  text: string
): Effect.Effect<A, Failure> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    // The engine's message quotes the text, which may hold a token.
    catch: () => failure(code, `${file} is not JSON`, "mend or remove it")
  }).pipe(
    Effect.flatMap((value) => Schema.decodeUnknownEffect(schema)(value, { errors: "all" })),
    Effect.catchTag("SchemaError", ({ issue }) =>
      Effect.fail(
        failure(
          code,
          `${file} is not as it should be: ${format(issue)
            .issues.map((issue) => {
              const path = (issue.path ?? [])
                .map((part) => String(typeof part === "object" ? part.key : part))
                .join(".")
              return path === "" ? issue.message : `${path}: ${issue.message}`
            })
            .join("; ")}`
        )
      )
    )
  )

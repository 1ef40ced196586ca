/** Endpoints whose response contains a secret, as an annotation for the server. */
import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

const Secret = Context.Reference<boolean>("@weft/api/access/SecretResponse", { defaultValue: () => false })

/** Annotation of an endpoint whose response contains a secret. Caches between server and client must not store it. */
export const secretResponse: Context.Context<never> = Context.make(Secret, true)

/** True if the response of the endpoint contains a secret. */
export const hasSecretResponse = ({ annotations }: Pick<HttpApiEndpoint.Top, "annotations">): boolean =>
  Context.get(annotations, Secret)

/** `Certificates` for a proxy that terminates TLS in front of this server. */
import { Certificates } from "@weft/core/adapter"
import type { Layer } from "effect"

/** Issues nothing: a domain is validated by its record alone. The default. */
export const certificates = (): Layer.Layer<Certificates> => Certificates.external

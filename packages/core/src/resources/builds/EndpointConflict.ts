/** The error for a build with an endpoint that another project of the environment serves. */
import { BadRequest, type Taken } from "../../foundation/Errors.ts"
import { endpointName, type Manifest } from "./Manifest.ts"
import { badMeta } from "./Meta.ts"

/** Returns the error for a build with an endpoint of another project. */
export const toEndpointConflict = ({ what }: Taken, { endpoints }: Manifest): BadRequest => {
  const reason = `claims ${what}, which another project of the environment serves already`
  const own = endpoints.find((endpoint) => endpointName(endpoint) === what)
  // The endpoint may belong to the project's deployed build, which keeps its endpoints besides a live build.
  return own === undefined ? new BadRequest({ reason }) : badMeta(own, "webhook", reason)
}

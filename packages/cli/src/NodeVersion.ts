/** The release of Node.js that runs the command line. */

/** The lowest major version, as in `engines` of the package. */
export const nodeMajorMin = 24

/** True if the version, such as `24.1.0`, is too old. */
export const isTooOld = (version: string): boolean => Number.parseInt(version, 10) < nodeMajorMin

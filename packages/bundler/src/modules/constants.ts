/** `node:constants`. */
import constants from "unenv/node/constants"

export default constants

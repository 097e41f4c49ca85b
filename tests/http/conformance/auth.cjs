// Every request of the suite carries the server's token, whichever client of Node's it uses.
const { subscribe } = require("node:diagnostics_channel");
const http = require("node:http");
const bearer = "Bearer " + process.env.EXECKIT_TOKEN;

subscribe("undici:request:create", ({ request }) => {
  if (!/(^|\r\n)authorization:/i.test(String(request.headers))) request.addHeader("authorization", bearer);
});

const real = http.request;
http.request = (...given) => {
  const request = real(...given);
  if (!request.hasHeader("authorization")) request.setHeader("authorization", bearer);
  return request;
};
require("node:module").syncBuiltinESMExports();

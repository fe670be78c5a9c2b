// A program for Node that appends events with @google/adk, one for each commit, while a test follows the file.
// Arguments: the folder that holds node_modules, the database file, and the number of events. It prints each event's id.
const { createRequire } = require("node:module");
const [folder, file, count] = process.argv.slice(2);
const load = createRequire(folder + "/");

async function main() {
  const { createEvent, createEventActions, getSessionServiceFromUri } = load("@google/adk");
  const service = getSessionServiceFromUri("sqlite://" + file);
  const session = await service.createSession({ appName: "desk", userId: "maria", sessionId: "s1", state: { "app:open": true } });
  console.log("session s1");
  for (let number = 0; number < Number(count); number++) {
    const event = createEvent({
      id: "e" + number,
      invocationId: "i" + Math.floor(number / 10),
      author: number % 10 ? "desk" : "user",
      content: { role: "model", parts: [{ text: `The answer to question ${number}. `.repeat(5) }] },
      actions: createEventActions({ stateDelta: { step: number, "user:last": number } }),
    });
    await service.appendEvent({ session, event });
    console.log("event e" + number);
  }
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });

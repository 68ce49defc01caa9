//! Objects of a library that are destroyed when dropped.
#![expect(unsafe_code, reason = "foreign functions are called here")]

type Create<T> = unsafe extern "C" fn() -> *mut T;
type Destroy<T> = unsafe extern "C" fn(*mut T);

/// An object of a library, and the function that destroys it.
#[derive(Debug)]
pub struct Owned<T> {
    /// The object; not null, and valid until this is dropped.
    pub handle: *mut T,
    destroy: Destroy<T>,
}

impl<T> Owned<T> {
    /// Creates an object.
    ///
    /// # Safety
    /// Both functions are of one library, which stays loaded; `create` may be called now, and
    /// `destroy` when this is dropped.
    pub unsafe fn create(create: Create<T>, destroy: Destroy<T>) -> Self {
        // SAFETY: as this function requires of its caller.
        Self { handle: unsafe { create() }, destroy }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the object was created for this value, and this is its last use.
        unsafe { (self.destroy)(self.handle) };
    }
}
